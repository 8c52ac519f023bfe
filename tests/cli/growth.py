# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ten times as many devices or processes in a machine file take about ten times as many instructions."""
import re
import shutil
import subprocess

from command import COMMAND, GIB, Machines, card, environment, main, skip_all

LARGEST = 12
DEVICES = 2000
ROWS = 5000


def devices(count):
    return {"devices": [card(f"GPU {i}", uuid=f"GPU-{i:08x}") for i in range(count)]}


def rows(count):
    return {"devices": [card(processes=[{"pid": i + 1, "used": 4096} for i in range(count)])]}


def host(count):
    return {"devices": [card()], "host": {"processes": [{"pid": i + 1, "resident": 4096} for i in range(count)]}}


class Growth(Machines):
    def instructions(self, machine):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *COMMAND, "wait",
                               "--free", str(GIB), "--machine", self.machine(machine)],
                              env=environment(), capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    def check(self, make, count):
        few, many = self.instructions(make(count)), self.instructions(make(10 * count))
        self.assertLess(many, LARGEST * few, f"{few} for {count}, {many} for {10 * count}")

    def test_devices(self):
        self.check(devices, DEVICES)

    def test_processes_of_a_device(self):
        self.check(rows, ROWS)

    def test_processes_of_the_host(self):
        self.check(host, ROWS)


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        skip_all("cli.growth", "there is no valgrind")
    main()
