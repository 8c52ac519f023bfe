# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m hypomnesis"""
import json
import unittest

from support import Case, run_suite

MACHINE = {"host": {"self": {"resident": "34MiB"},
                    "system": {"total": "31.5GiB", "available": "12GiB"}},
           "devices": [{"name": "Größe", "pools": [{"kind": "vram", "total": "16GiB",
                                                    "used": "3GiB"}]},
                       {"pools": [{"kind": "vram", "total": "512MiB"}]},
                       {"name": "Bare"}]}


class Main(Case):
    def run_main(self, *arguments, machine=None):
        path = None if machine is None else self.machine(machine)
        return self.python("-m", "hypomnesis", *arguments, HMN_SIMULATION=path,
                           PYTHONIOENCODING="utf-8")

    def test_the_summary_has_a_line_for_each_device(self):
        result = self.run_main(machine=MACHINE)
        self.assertEqual(result.returncode, 0, result.stderr)
        title, *lines = result.stdout.splitlines()
        self.assertRegex(title, r"^hypomnesis \d+\.\d+\.\d+$")
        self.assertEqual(lines, ["this process: 34 MiB resident", "host: 12.0 GiB available of 31.5 GiB",
                                 "GPU 0 [Größe]: 13.0 GiB free of 16.0 GiB",
                                 "GPU 1 [unknown]: unknown free of 512 MiB",
                                 "GPU 2 [Bare]: memory unknown"])

    def test_json_prints_a_snapshot(self):
        result = self.run_main("--json", machine=MACHINE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        self.assertEqual(document["memory"]["resident_bytes"], 34 << 20)
        self.assertEqual(document["system"]["total_bytes"], 63 << 29)
        self.assertEqual([d["name"] for d in document["devices"]], ["Größe", None, "Bare"])

    def test_a_host_without_devices_prints_no_gpu(self):
        result = self.run_main(machine={"host": "real"})
        self.assertEqual(result.stdout.splitlines()[-1], "no GPU")

    def test_refused_readings_are_reported_on_stderr(self):
        machine = {"devices": [{"failures": [{"call": "pools", "status": "permission",
                                              "message": "the driver refused"}]}]}
        result = self.run_main(machine=machine)
        self.assertIn("the driver refused", result.stderr)
        self.assertEqual(result.returncode, 0)

    def test_a_wrong_environment_or_option_fails(self):
        result = self.python("-m", "hypomnesis", HMN_SIMULATION="relative.json")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertTrue(result.stderr.startswith("hypomnesis: "), result.stderr)
        self.assertEqual(self.run_main("--colour").returncode, 2)


if __name__ == "__main__":
    run_suite()
