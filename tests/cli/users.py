# SPDX-License-Identifier: MIT OR Apache-2.0
"""users.py NVML LATE: names of users from a directory service that answers late or never."""
import json
import os
import subprocess
import sys
import time

from command import Machines, environment, main, run, run_in_terminal

NVML, LATE = sys.argv.pop(1), sys.argv.pop(1)
CARD = {"name": "NVIDIA L40S", "uuid": "GPU-1111", "pci": {"address": "00000000:01:00.0"}, "minor": 0,
        "memory": {"total": "40 GiB", "free": "30 GiB", "used": "10 GiB"},
        "memory_v2": {"total": "40 GiB", "reserved": 0, "free": "30 GiB", "used": "10 GiB"}}
NUMBER = str(os.getuid())
FAMILY = "hypomnesis_user_gpu_memory_usage_bytes"


class Users(Machines):
    def setUp(self):
        super().setUp()
        worker = subprocess.Popen(["sleep", "600"])
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        scenario = self.folder / "scenario.json"
        processes = [{"pid": worker.pid, "used": "1 GiB"}]
        scenario.write_text(json.dumps({"devices": [CARD | {"processes": {"compute": processes}}]}))
        self.env = {"LD_PRELOAD": LATE, "HMN_NVML": NVML, "FAKE_NVML_SCENARIO": str(scenario),
                      "HMN_NVIDIA_SMI": str(self.folder / "none")}

    def capture(self, ms, *arguments):
        """Returns the output and the seconds that it took, if the lookup of a name takes `ms`."""
        start = time.monotonic()
        keys = self.env | {"HMN_TEST_USER_MS": str(ms)}
        if arguments:
            result = run(*arguments, env=environment(**keys))
            self.assertEqual(result.code, 0, result.err)
            text = result.out
        else:
            text = run_in_terminal(**keys).out
        return text, time.monotonic() - start

    def test_each_command_waits_for_a_slow_user_name(self):
        for command in ((), ("ps", "--by", "user"), ("ps", "--columns", "pid,user"), ("exporter", "--once", "--per", "user"),
                        ("top", "--once"), ("top", "--once", "--user", "lateuser")):
            with self.subTest(command):
                self.assertIn("lateuser", self.capture(100, *command)[0])

    def test_a_name_that_never_arrives_is_a_number_and_delays_nothing(self):
        for command in ((), ("ps", "--by", "user"), ("ps", "--by", "user", "--timeout", "500ms"),
                        ("exporter", "--once", "--per", "user", "--timeout", "500ms"), ("top", "--once")):
            with self.subTest(command):
                text, seconds = self.capture(60_000, *command)
                self.assertNotIn("lateuser", text)
                expected = f'user="{NUMBER}"' if "exporter" in command else NUMBER
                self.assertIn(expected, text)
                self.assertLess(seconds, 30)


if __name__ == "__main__":
    main()
