# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of examples/python on example machines and on the real one."""
import os
import re
import subprocess
import sys
import unittest

from support import MACHINES, ROOT, Case, run_suite

sys.path.append(str(ROOT / "tests/bindings"))
import on_machines
from free_memory import CASES

MIB = 1 << 20
SERVER = """\
GPU 0 [NVIDIA H100 80GB HBM3]: 4.7 GiB free, does not fit
GPU 1 [NVIDIA H100 80GB HBM3]: 5.0 GiB free, does not fit
GPU 2 [NVIDIA H100 80GB HBM3]: 5.0 GiB free, does not fit
GPU 3 [NVIDIA H100 80GB HBM3]: 4.9 GiB free, does not fit
GPU 4 [NVIDIA H100 80GB HBM3]: 19.1 GiB free, fits
GPU 5 [NVIDIA H100 80GB HBM3]: 19.2 GiB free, fits
GPU 6 [NVIDIA H100 80GB HBM3]: 79.1 GiB free, fits
GPU 7 [NVIDIA H100 80GB HBM3]: 79.1 GiB free, fits
GPU 6 has most
"""
ASLEEP = """\
GPU 0 [NVIDIA GeForce RTX 4060 Laptop GPU]: free memory is not known
no GPU has 1.0 GiB free
"""


def make_machine(ram, used):
    return {"host": {"self": {"resident": ram}},
            "devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": "16384MiB"}],
                         "processes": [{"pid": "self", "used": used}]}]}


CHANGING_MACHINE = make_machine("100MiB", "50MiB") | {"changes": [{"at_reading": 2} | make_machine("164MiB", "562MiB")]}


class Examples(Case):
    def example(self, name, *arguments, machine=None):
        path = None if machine is None else self.machine(machine)
        result = self.python(ROOT / f"examples/python/{name}.py", *arguments, HMN_SIMULATION=path,
                             PYTHONIOENCODING="utf-8")
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout

    def test_memory_prints_resident_and_available_bytes(self):
        expected = (f"resident: {23 * MIB // 2} bytes (11 MiB)\n"
                    f"available: {165 * 256 * MIB} bytes (41.2 GiB)\n")
        self.assertEqual(self.example("memory", machine="workstation"), (0, expected))

    def test_memory_prints_the_values_of_the_real_host(self):
        status, text = self.example("memory", machine={"host": "real"})
        self.assertRegex(text, r"\Aresident: \d{7,} bytes \(\d+ MiB\)\navailable: \d{7,} bytes \(")
        self.assertEqual(status, 0)

    def test_free_memory_prints_each_gpu_and_a_verdict(self):
        self.assertEqual(self.example("free_memory", "8GiB", machine="server-8gpu"), (0, SERVER))
        self.assertEqual(self.example("free_memory", "1GiB", machine="laptop-asleep"), (1, ASLEEP))
        free = 24564 - 498 - 13911
        line = f"GPU 0 [NVIDIA GeForce RTX 4090]: 9.9 GiB free,"
        for size, status, verdict in ((free * MIB, 0, f"{line} fits\nGPU 0 has most\n"),
                                      (free * MIB + 1, 1, f"{line} does not fit\n"
                                       "no GPU has 9.9 GiB free\n")):
            self.assertEqual(self.example("free_memory", size, machine="workstation"), (status, verdict))
        self.assertEqual(self.example("free_memory", "8GiB", machine={"devices": []}),
                         (1, "no GPU has 8.0 GiB free\n"))

    def test_free_memory_prints_only_what_can_be_allocated(self):
        for size, machine, *expected in CASES:
            self.assertEqual(self.example("free_memory", size, machine=machine), tuple(expected))

    def test_examples_print_the_right_values_on_each_machine(self):
        problems = on_machines.find_example_problems(lambda program, arguments, machine:
                                                     (*self.example(program, *arguments, machine=machine), ""))
        self.assertEqual(list(problems), [])

    def test_fit_prints_the_demand_and_a_verdict_for_each_gpu(self):
        total = "weights: 15.0 GiB\ncache: 1.0 GiB\nwith a tenth more: 17.6 GiB\n"
        self.assertEqual(self.example("fit", "bf16", "8192", machine="workstation"),
                         (1, total + "GPU 0: does not fit\n"))
        self.assertEqual(self.example("fit", "bf16", "8192", machine="laptop-asleep"),
                         (1, total + "GPU 0: not known\n"))
        self.assertEqual(self.example("fit", "i4", "8192", machine="workstation"),
                         (0, "weights: 3.7 GiB\ncache: 1.0 GiB\nwith a tenth more: 5.2 GiB\nGPU 0: fits\n"))

    def test_watch_reports_the_first_sample_that_spilled(self):
        machine = ROOT / "tests/bindings/machines/watched.json"
        self.assertEqual(self.example("watch", "4000000100", machine=machine), (0, (
            "host 1.0 GiB, GPU 0 7.0 GiB\nhost 1.0 GiB, GPU 0 14.0 GiB\n"
            "GPU 0: spilled, first in sample 2\nGPU 1: not known whether it spilled\n")))
        self.assertEqual(self.example("watch", "4000000999", machine=machine)[0], 1)

    def test_watch_follows_a_real_process_until_it_ends(self):
        command = [sys.executable, str(ROOT / "examples/python/watch.py")]
        machine = str(self.machine({"host": "real"}))
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            with subprocess.Popen([*command, str(sleeper.pid)], stdout=subprocess.PIPE, encoding="utf-8",
                                  env={**os.environ, "HMN_SIMULATION": machine}) as process:
                text = process.stdout.readline()
                sleeper.kill()
                text += process.stdout.read()
        self.assertEqual(process.returncode, 0)
        self.assertRegex(text, r"\A(host \d+ MiB\n)+\Z")

    def test_before_after_prints_the_changes_of_ram_and_vram(self):
        status, text = self.example("before_after", machine=CHANGING_MACHINE)
        lines = text.splitlines()
        self.assertEqual((status, len(lines)), (0, 2))
        self.assertRegex(lines[0], r"^  work: RAM 100 MiB .* 164 MiB \(\+64 MiB\)$")
        self.assertRegex(lines[1], r"^  work: VRAM 50 MiB .* 562 MiB \(\+512 MiB / 16384 MiB\) .*\[GPU\]$")

    def test_before_after_prints_only_ram_without_a_device(self):
        self.assertEqual(self.example("before_after", machine={"host": "real"}),
                         (0, "RAM +64 MiB or more\n"))

    def test_every_example_is_tested(self):
        source = (ROOT / "tests/bindings/python/examples_test.py").read_text(encoding="utf-8")
        tested = set(re.findall(r'example\("(\w+)"', source))
        self.assertEqual(tested, {path.stem for path in (ROOT / "examples/python").glob("*.py")})
        self.assertTrue(MACHINES.exists())


if __name__ == "__main__":
    run_suite()
