# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn exporter` leaks no memory in a scrape, and is idle between two scrapes."""
import pathlib
import re
import time

from command import MACHINES, Machines, main, run, skip_all
from exporter_server import Server

GROWTH_KIB = 512  # a leak in each scrape would exceed it
IDLE = 0.01  # of a core: a wakeup without a scrape would exceed it


def read_resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def read_processor_time(pid):
    """Returns the seconds of all threads."""
    return sum(int(file.read_text().split()[0]) for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


class Cost(Machines):
    def scrape(self, server, times):
        for number in range(times):
            status, _, _ = server.get(headers={"Accept": "application/openmetrics-text" if number % 2 else "*/*"})
            self.assertEqual(status, 200)

    def test_scrapes_leave_no_memory_and_the_idle_server_no_load(self):
        with Server(MACHINES / "server-8gpu.json", "--max-age", "1ms", "--per", "process,user") as server:
            self.scrape(server, 200)
            pid = server.process.pid
            before = read_resident_kib(pid)
            self.scrape(server, 400)
            self.assertLess(read_resident_kib(pid) - before, GROWTH_KIB)
            time.sleep(1)
            before, start = read_processor_time(pid), time.monotonic()
            time.sleep(6)
            busy_seconds = read_processor_time(pid) - before
            self.assertLess(busy_seconds / (time.monotonic() - start), IDLE)


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_cost", "the server is not built")
    main()
