# SPDX-License-Identifier: MIT OR Apache-2.0
"""script.py SCRIPT BUILD NVML NVIDIA_SMI CUDA: scripts/live, on a machine whose driver and nvidia-smi are fakes."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT, BUILD, NVML, NVIDIA_SMI, CUDA = sys.argv[1:6]
del sys.argv[1:6]
MIB = 1 << 20
UUID = "GPU-11111111-2222-3333-4444-555555555555"
GPU = {"name": "NVIDIA L40S", "uuid": UUID, "pci": {"address": "00000000:01:00.0"},
       "memory_v2": {"total": 46068 * MIB, "reserved": 599 * MIB, "free": 36346 * MIB, "used": 9123 * MIB},
       "utilization": {"gpu": 64, "memory": 12}, "temperature": 45, "power_usage_mw": 58980,
       "power_limit_mw": 300000, "enforced_power_limit_mw": 300000,
       "pcie": {"gen": 4, "width": 16, "max_gen": 4, "max_width": 16}, "processes": {"compute": [{"pid": 1, "used": "512 MiB"}]}}
FIELDS = {"name": "NVIDIA L40S", "uuid": UUID, "pci.bus_id": "00000000:01:00.0", "driver_version": "595.80",
          "memory.total": 46068, "memory.used": 9123, "memory.free": 36346, "memory.reserved": 599,
          "utilization.gpu": 64, "temperature.gpu": 45, "power.draw": 58.98, "power.limit": 300,
          "enforced.power.limit": 300, "pcie.link.width.current": 16, "accounting.mode": "Disabled"}


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hmn-live-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(NVIDIA_SMI, self.folder / "nvidia-smi")

    def live(self, gpus, fields=FIELDS, options=(), build=BUILD, **env):
        """The exit status, and the results by check."""
        (self.folder / "scenario.json").write_text(
            json.dumps({"driver_version": "595.80", "reread": "call", "devices": gpus}))
        (self.folder / "nvidia-smi.json").write_text(json.dumps({"gpus": [{"fields": fields}] if gpus else []}))
        empty = self.folder / "empty"
        empty.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT, "--build", build, "--out", self.folder / "out", "--seconds", "3", *options],
            capture_output=True, text=True, timeout=280, check=False,
            env={"PATH": f"{self.folder}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HMN_NVML": NVML, "HMN_SYS": str(empty),
                 "HMN_NVIDIA_SMI": str(self.folder / "nvidia-smi"), "HMN_LIVE_NODE": "/dev/null",
                 "FAKE_NVML_SCENARIO": str(self.folder / "scenario.json")} | env)
        self.said = done.stdout + done.stderr
        file = self.folder / "out/summary.json"
        results = json.loads(file.read_text()) if file.exists() else []
        return done.returncode, {each["check"]: each for each in results}

    def test_every_check_leaves_its_output_and_a_line_of_the_summary(self):
        code, results = self.live([GPU], options=("--commit", "0123abcd"))
        self.assertEqual(code, 0, self.said)
        for name in ("here", "without-nvml", "wait", "fit", "cost", "recording", "sampler", "doctor"):
            self.assertEqual(results[name]["result"], "passed", (name, self.said))
        for name in ("run", "events", "overcommit", "accounting", "mig"):
            self.assertEqual(results[name]["result"], "skipped", (name, self.said))
            self.assertTrue(results[name]["detail"], name)
        self.assertIn("libcuda.so.1", results["run"]["detail"])
        summary = (self.folder / "out/summary.txt").read_text()
        self.assertIn("driver 595.80", summary)
        for name in results:
            self.assertIn(f" {name} ", summary)
            self.assertTrue((self.folder / f"out/{name}.txt").read_text(), name)
        evidence = self.folder / "out/evidence"
        self.assertEqual((evidence / "summary.txt").read_text(), summary)
        self.assertRegex(summary, r"\A\d{4}-\d\d-\d\d, commit 0123abcd\n")
        self.assertNotIn(f" {platform.node()} ", summary)
        machine = (evidence / "machine.json").read_text()
        self.assertNotIn(UUID, machine)
        self.assertEqual(json.loads(machine)["devices"][0]["name"], "NVIDIA L40S")
        here = (self.folder / "out/here.txt").read_text()
        self.assertIn("ok: memory.used: 9123, wanted 9123", here)
        self.assertRegex(self.said, r"\d+ passed, 0 failed, \d+ skipped; ")

    def template(self, name, scenario):
        (self.folder / name).write_text(re.sub(r'"(@\w+@)"', r"\1", json.dumps(scenario)))

    @unittest.skipUnless(os.readlink("/proc/self/ns/pid") == "pid:[4026531836]",
                         "the driver's pids may be those of another PID namespace")
    def test_a_program_that_allocates_and_fails_is_seen(self):
        used = {"reserved": 599 * MIB, "total": 46068 * MIB, "free": "@FREE@", "used": "@USED@"}
        gpu = GPU | {"memory_v2": used, "event_types": 8, "xids": ["@XIDS@"],
                     "processes": {"compute": [{"pid": "@PID@", "used": "@OWN@"}]}}
        self.template("nvml", {"driver_version": "595.80", "reread": "call", "devices": [gpu]})
        apps = [{"pid": "@PID@", "process_name": "live", "used_gpu_memory": "@MIB@"}]
        self.template("smi", {"gpus": [{"fields": FIELDS, "compute_apps": apps}]})
        code, results = self.live([GPU | {"processes": {"compute": []}, "event_types": 8}],
                                  FAKE_CUDA_NVML=str(self.folder / "nvml"), FAKE_CUDA_SMI=str(self.folder / "smi"),
                                  FAKE_CUDA_SMI_SCENARIO=str(self.folder / "nvidia-smi.json"),
                                  LD_LIBRARY_PATH=str(pathlib.Path(CUDA).parent))
        self.assertEqual(code, 0, self.said)
        self.assertEqual((results["run"]["result"], results["run"]["detail"]),
                         ("passed", "1024 MiB of 1024 and the context"), self.said)
        for name in ("here", "without-nvml"):
            self.assertIn("ok: own use rises by (MiB): 1024, wanted 1024", (self.folder / f"out/{name}.txt").read_text())
        self.assertEqual(results["overcommit"]["result"], "skipped")
        self.assertIn("refuses memory beyond the GPU's", results["overcommit"]["detail"])
        self.assertIn("ok: spill is not measurable", (self.folder / "out/overcommit.txt").read_text())
        # The fake NVML delivers events at their registration only.
        self.assertEqual(results["events"]["result"], "skipped", self.said)
        self.assertIn("the program ended with 700", (self.folder / "out/events.txt").read_text())

    def test_a_value_that_nvidia_smi_contradicts_fails(self):
        code, results = self.live([GPU], FIELDS | {"memory.used": 4000})
        self.assertEqual(code, 1, self.said)
        self.assertEqual(results["here"]["result"], "FAILED")
        self.assertIn("memory.used", results["here"]["detail"])
        self.assertEqual(results["sampler"]["result"], "FAILED")
        self.assertIn("memory.used", results["sampler"]["detail"])

    def test_a_gpu_without_a_value_of_free_memory_passes(self):
        gpu = {key: GPU[key] for key in ("uuid", "pci")} | {"name": "NVIDIA GB10", "compute_capability": [12, 1]}
        _, results = self.live([gpu | {"processes": {"compute": []}}])
        self.assertEqual(results["wait"]["result"], "passed", self.said)
        self.assertIn("no GPU reports free memory", results["wait"]["detail"])

    def executable(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return file

    def test_a_hanging_nvidia_smi_does_not_outlast_the_limit(self):
        (self.folder / "nvidia-smi").unlink()
        self.executable("nvidia-smi", "sleep 300")
        begin = time.monotonic()
        code, results = self.live([GPU], options=("--limit", "20"))
        self.assertLess(time.monotonic() - begin, 40, self.said)
        self.assertIn(code, (0, 1), self.said)
        self.assertEqual(results["doctor"]["detail"], "no time is left", self.said)

    def test_a_hanging_nvidia_smi_fails_the_comparison(self):
        script = self.executable("hanging/nvidia-smi",
                                 f'case $1 in *=uuid,*) sleep 300;; *) exec "{self.folder}/nvidia-smi" "$@";; esac')
        code, results = self.live([GPU], PATH=f"{script.parent}:/usr/bin:/bin")
        self.assertEqual(code, 1, self.said)
        self.assertEqual(results["sampler"]["result"], "FAILED", self.said)
        self.assertIn("nvidia-smi took more than", results["sampler"]["detail"])

    def test_an_hmn_that_fails_is_a_result(self):
        hmn = self.executable("broken/hmn", "echo it is broken >&2; exit 3")
        code, results = self.live([GPU], build=hmn.parent)
        self.assertEqual(code, 1, self.said)
        self.assertEqual(results["build"]["result"], "FAILED")
        self.assertRegex(results["build"]["detail"], "hmn: exit 3: it is broken")
        self.assertIn("0 passed, 1 failed, 0 skipped", (self.folder / "out/summary.txt").read_text())

    def test_a_build_that_cannot_be_linked_is_a_result(self):
        hmn = self.executable("alone/hmn", f'exec "{BUILD}/hmn" "$@"')
        code, results = self.live([GPU], options=("--limit", "20"), build=hmn.parent)
        self.assertEqual(code, 1, self.said)
        self.assertEqual(results["build"]["result"], "FAILED", self.said)
        self.assertIn("cc: exit 1", results["build"]["detail"])

    def test_without_a_gpu_it_says_so_and_is_skipped(self):
        code, results = self.live([], HMN_LIVE_NODE=str(self.folder / "none"))
        self.assertEqual((code, results), (77, {}), self.said)
        self.assertIn("skipped: live: no GPU on this machine", self.said)


if __name__ == "__main__":
    unittest.main()
