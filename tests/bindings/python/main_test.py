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
        place = None if machine is None else self.machine(machine)
        return self.python("-m", "hypomnesis", *arguments, HMN_SIMULATION=place,
                           PYTHONIOENCODING="utf-8")

    def test_the_summary(self):
        done = self.run_main(machine=MACHINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        title, *lines = done.stdout.splitlines()
        self.assertRegex(title, r"^hypomnesis \d+\.\d+\.\d+$")
        self.assertEqual(lines, ["this process: 34 MiB resident", "host: 12.0 GiB available of 31.5 GiB",
                                 "GPU 0 [Größe]: 13.0 GiB free of 16.0 GiB",
                                 "GPU 1 [unknown]: unknown free of 512 MiB",
                                 "GPU 2 [Bare]: memory unknown"])

    def test_json(self):
        done = self.run_main("--json", machine=MACHINE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        self.assertEqual(document["memory"]["resident_bytes"], 34 << 20)
        self.assertEqual(document["system"]["total_bytes"], 63 << 29)
        self.assertEqual([d["name"] for d in document["devices"]], ["Größe", None, "Bare"])

    def test_no_devices(self):
        done = self.run_main(machine={"host": "real"})
        self.assertEqual(done.stdout.splitlines()[-1], "no GPU")

    def test_what_is_missing_is_reported(self):
        machine = {"devices": [{"failures": [{"call": "pools", "status": "permission",
                                              "message": "the driver refused"}]}]}
        done = self.run_main(machine=machine)
        self.assertIn("the driver refused", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_failures(self):
        done = self.python("-m", "hypomnesis", HMN_SIMULATION="relative.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertTrue(done.stderr.startswith("hypomnesis: "), done.stderr)
        self.assertEqual(self.run_main("--colour").returncode, 2)


if __name__ == "__main__":
    run_suite()
