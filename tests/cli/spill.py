# SPDX-License-Identifier: MIT OR Apache-2.0
"""`hmn spill`, on machines that fill up."""
import json
import os
import signal
import subprocess
import sys

import jsonschema

from command import COMMAND, GIB, MIB, SOURCE, Machines, environment, main, parse_json, run

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "spill.schema.json").read_text())
VRAM = {"kind": "vram", "total": "16GiB", "used": "8GiB"}
GTT = {"kind": "host", "total": "32GiB", "used": "128MiB"}


def set_used(pool, size):
    return {"op": "replace", "path": f"/devices/0/pools/{pool}/used", "value": size}


# The first reading lists the devices, the second is the baseline.
FILLS = {"devices": [{"name": "Card", "vendor": "amd", "pools": [VRAM, GTT]}],
         "changes": [{"at_reading": 3, "patch": [set_used(0, "15GiB"), set_used(1, "384MiB")]}]}
NVIDIA = {"devices": [{"name": "Card", "vendor": "nvidia", "pools": [VRAM]}]}
CALM = {"devices": FILLS["devices"]}
# Waits for the observation before the command, even on a busy machine.
LONG_TIMEOUT = ("--timeout", "60s")


class Spill(Machines):
    def run_spill(self, machine, *command, code=0, options=()):
        target = self.folder / "spill.json"
        result = self.run_on(machine, "spill", *LONG_TIMEOUT, "--output", target, *options, "--", *command)
        self.assertEqual(result.code, code, result.err)
        report = parse_json(target.read_text())
        jsonschema.validate(report, SCHEMA)
        return report, result

    def test_a_spill_is_relative_to_the_time_before_the_command(self):
        report, result = self.run_spill(FILLS, "true")
        self.assertEqual(result.out, "")
        self.assertEqual((report["measurable"], report["spilled"]), (True, True))
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]),
                         (128 * MIB, 384 * MIB))
        self.assertEqual((report["peak_dedicated_bytes"], report["dedicated_limit_bytes"]),
                         (15 * GIB, 16 * GIB))
        self.assertEqual(report["episodes"][0]["rules"], ["shared"])
        self.assertIsNone(report["episodes"][0]["end_label"])
        self.assertIsNone(report["peak_evicted_bytes"])
        self.assertRegex(result.err, r"^hmn spill: peak dedicated 15\.0 GiB / 16\.0 GiB\n"
                         r"           peak shared    384 MiB \(baseline 128 MiB\)\n"
                         r"           episodes       1 \u2014 total \d+\.\ds, longest \d+\.\ds, first \+\d+\.\d+s into run\n")

    def amd_card(self, vram_used, gtt_used):
        """Writes an AMD card whose used memory is in two files; returns its folder and the environment of hmn."""
        root, nodes = self.folder / "sys", self.folder / "dev"
        card = root / "devices/pci0000:00/0000:03:00.0"
        node = card / "drm/renderD128"
        for folder in (node, card / "power", nodes / "dri", root / "class/drm", root / "bus/pci/drivers/amdgpu"):
            folder.mkdir(parents=True)
        numbers = os.stat("/dev/null").st_rdev
        for name, text in (("vendor", "0x1002"), ("device", "0x73bf"), ("class", "0x030000"),
                           ("mem_info_vram_total", 16 * GIB), ("mem_info_vram_used", vram_used),
                           ("mem_info_gtt_total", 32 * GIB), ("mem_info_gtt_used", gtt_used),
                           ("power/runtime_status", "active"),
                           ("drm/renderD128/dev", f"{os.major(numbers)}:{os.minor(numbers)}")):
            (card / name).write_text(f"{text}\n")
        for link, target in ((card / "driver", "../../../bus/pci/drivers/amdgpu"), (card / "subsystem", "../../../bus/pci"),
                             (node / "device", "../.."), (nodes / "dri/renderD128", "/dev/null"),
                             (root / "class/drm/renderD128", f"../../{node.relative_to(root)}")):
            link.symlink_to(target)
        return card, environment(HMN_SYS=str(root), HMN_PROC="/nonexistent", HMN_DEV=str(nodes),
                                 HMN_NVML="/nonexistent", HMN_NVIDIA_SMI="/nonexistent",
                                 HMN_ROCM_SMI="/nonexistent", HMN_AMD_SMI="/nonexistent")

    def test_the_baseline_is_read_before_the_command_starts(self):
        card, env = self.amd_card(8 * GIB, 128 * MIB)
        if "amdgpu: ready" not in run("doctor", env=env).out:
            self.skipTest("built without amdgpu")
        target = self.folder / "spill.json"
        script = f"echo {15 * GIB} > {card}/mem_info_vram_used; echo {384 * MIB} > {card}/mem_info_gtt_used"
        result = run("spill", *LONG_TIMEOUT, "--output", target, "--interval", "1h", "--", "sh", "-c", script, env=env)
        self.assertEqual(result.code, 0, result.err)
        report = parse_json(target.read_text())
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]), (128 * MIB, 384 * MIB))
        # One observation before the command and one after it, even if it is short.
        self.assertEqual((report["observations"], report["spilled"]), (2, True))

    def test_a_process_that_outgrows_the_card_spills_until_it_shrinks(self):
        card, env = self.amd_card(8 * GIB, 128 * MIB)
        if "amdgpu: ready" not in run("doctor", env=env).out:
            self.skipTest("built without amdgpu")
        proc, target = self.folder / "proc", self.folder / "spill.json"
        proc.mkdir()
        process = (sys.executable, "-B", SOURCE / "tests/cli/force_spill.py", card, proc)

        def spill(*gib):
            result = run("spill", *LONG_TIMEOUT, "--output", target, "--interval", "10ms", "--", *process, *gib,
                         env=env | {"HMN_PROC": str(proc)})
            self.assertEqual(result.code, 0, result.err)
            return json.loads(target.read_text()), result.err

        # Others use 8 GiB: of 12 more, 4 do not fit.
        report, errors = spill("4", "12", "2")
        self.assertEqual((report["measurable"], report["spilled"], report["episode_count"]), (True, True, 1), errors)
        self.assertEqual((report["peak_dedicated_bytes"], report["dedicated_limit_bytes"]), (16 * GIB, 16 * GIB))
        self.assertEqual((report["baseline_shared_bytes"], report["peak_shared_bytes"]),
                         (128 * MIB, 4 * GIB + 128 * MIB))
        self.assertEqual(report["peak_evicted_bytes"], 4 * GIB)
        episode, = report["episodes"]
        self.assertEqual((sorted(episode["rules"]), episode["peak_shared_bytes"]), (["evicted", "shared"], 4 * GIB + 128 * MIB))
        self.assertIsNotNone(episode["end_label"])
        # Memory that exactly fits does not spill.
        report, errors = spill("4", "8", "2")
        self.assertEqual((report["spilled"], report["peak_dedicated_bytes"], report["peak_evicted_bytes"]),
                         (False, 16 * GIB, 0), errors)

    def test_a_run_without_a_spill_is_reported(self):
        result = self.run_on(CALM, "spill", "--", "true")
        self.assertIn("           episodes       0 \u2014 no spill observed\n", result.err)
        self.assertEqual((result.code, result.out), (0, ""))

    def test_an_unmeasurable_spill_is_null_and_not_zero(self):
        for machine in (NVIDIA, {"devices": []}):
            report, result = self.run_spill(machine, "sh", "-c", "exit 7", code=7)
            self.assertIn("hmn spill: spill not measurable: ", result.err)
            self.assertEqual((report["measurable"], report["spilled"], report["observations"]),
                             (False, None, 0))
            self.assertIsNone(report["peak_shared_bytes"])
            self.assertTrue(report["reason"])
            self.assertEqual(report["exit_status"], 7)

    def test_an_unmeasurable_spill_reports_used_and_free_memory(self):
        machine = NVIDIA | {"changes": [{"at_reading": 4, "patch": [set_used(0, "15GiB")]},
                                        {"at_reading": 6, "patch": [set_used(0, "2GiB")]}]}
        report, result = self.run_spill(machine, "sleep", "0.5", options=("--interval", "50ms"))
        self.assertEqual((report["peak_used_bytes"], report["least_free_bytes"]), (15 * GIB, GIB))
        self.assertIn("managed-memory migration is not reported\n", result.err)
        self.assertRegex(result.err, r"\n           peak used      15\.0 GiB / 16\.0 GiB, sampled\n"
                         r"           least free     1\.0 GiB, \+\d+\.\d+s into run\n$")
        report, result = self.run_spill({"devices": []}, "true")
        self.assertEqual((report["peak_used_bytes"], report["least_free_bytes"]), (None, None))
        self.assertNotIn("peak used", result.err)
        report, _ = self.run_spill(CALM, "true")  # measured
        self.assertEqual((report["peak_used_bytes"], report["least_free_bytes"]), (None, None))

    def test_the_end_of_the_command_is_noticed_at_once(self):
        self.assertEqual(self.run_on(CALM, "spill", "--interval", "1h", "--", "true").code, 0)

    def test_exit_codes_are_those_of_the_command_or_of_hmn(self):
        self.assertEqual(self.run_on(CALM, "spill", "--", "sh", "-c", "exit 255").code, 255)
        killed = self.run_on(CALM, "spill", "--", "sh", "-c", "kill -KILL $$")
        self.assertEqual(killed.code, 128 + signal.SIGKILL)
        absent = self.run_on(CALM, "spill", "--", "no-such-command")
        self.assertEqual((absent.code, absent.out), (127, ""))
        self.assertEqual(absent.err, 'hmn: cannot run "no-such-command": No such file or directory\n')
        self.assertEqual(self.run_on(CALM, "spill", "--device", "9", "--", "true").code, 125)
        self.assertEqual(self.run_on(CALM, "spill", "--output", "/nonexistent/x", "--", "true").code, 125)
        for words in (("--interval", "0.1x"), ("--interval", "0ms"), ()):
            self.assertEqual(self.run_on(CALM, "spill", *words).code, 2)

    def test_json_is_printed_after_the_output_of_the_command(self):
        result = self.run_on(CALM, "spill", "--json", "--", "echo", "-n", "--json")
        prefix, _, document = result.out.partition("{")
        self.assertEqual(prefix, "--json")
        jsonschema.validate(parse_json("{" + document), SCHEMA)

    def test_signals_are_passed_on_and_the_report_is_still_printed(self):
        machine = self.folder / "calm.json"
        machine.write_text(json.dumps(CALM))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            process = subprocess.Popen(
                [*COMMAND, "spill", "--machine", machine, "--", "sh", "-c", "echo; exec sleep 60"],
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.readline()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn(b"no spill observed", err)


if __name__ == "__main__":
    main()
