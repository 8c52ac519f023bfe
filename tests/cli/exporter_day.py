# SPDX-License-Identifier: MIT OR Apache-2.0
"""The scrapes of a day, one each 15 s: memory, descriptors and threads of `hmn exporter` do not grow."""
import http.client
import os
import pathlib
import re
import time

from command import MACHINES, Machines, main, run, skip_all
from exporter_server import Server

SCRAPES = 24 * 3600 // 15
TIMESTAMP = re.compile(rb"\nhypomnesis_snapshot_timestamp_seconds (\S+)")


def read_resident(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Day(Machines):
    def test_a_day_of_scrapes_leaks_no_memory_descriptors_or_threads(self):
        with Server(MACHINES / "server-8gpu.json", "--max-age", "1ms", "--per", "process,user") as server:
            timestamps = set()

            def scrape(count):
                connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
                for number in range(count):
                    if number % 100 == 99:  # clients come and go
                        connection.close()
                    connection.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text"}
                                       if number % 2 else {})
                    answer = connection.getresponse()
                    self.assertEqual(answer.status, 200)
                    timestamps.add(TIMESTAMP.search(answer.read())[1])
                    time.sleep(0.002)  # longer than a reading is shared
                connection.close()

            def count_resources():
                pid = server.process.pid
                return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))
            scrape(300)
            before, memory = count_resources(), read_resident(server.process.pid)
            scrape(SCRAPES)
            self.assertEqual(len(timestamps), 300 + SCRAPES)
            self.assertLessEqual(count_resources(), (before[0] + 1, before[1]))
            self.assertLess(read_resident(server.process.pid) - memory, 256 << 10)


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_day", "the server is not built")
    main()
