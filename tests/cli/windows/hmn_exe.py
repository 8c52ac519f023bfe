# SPDX-License-Identifier: MIT OR Apache-2.0
"""hmn.exe under Wine: features that need no driver. HMN_COMMAND: the words of hmn."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import jsonschema

COMMAND = os.environ["HMN_COMMAND"].split("\n")
SOURCE = pathlib.Path(os.environ["HMN_SOURCE"])
PARTNER = sys.argv[1]
MIB = 1 << 20


def windows_path(path):
    """Wine maps the root of this system to its drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def run(words, **options):
    """Output goes to files: Wine's desktop, which the first program starts, would keep pipes open for ten seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=100, check=False,
                                 **options)
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read(), err.read()


def load_schema(noun):
    return json.loads((SOURCE / "docs" / "schema" / f"{noun}.schema.json").read_text())


class Hmn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hmn-windows-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def hmn(self, *arguments, code=0, cwd=None, **environment):
        """Tries again if Wine's server has killed hmn: on a busy machine it does not wait longer than half a second
        for a program that is ending."""
        for _ in range(2):
            exit_code, out, err = run([*COMMAND, *map(str, arguments)], cwd=cwd, env=dict(os.environ) | environment)
            if exit_code != -signal.SIGKILL:
                break
        self.assertEqual(exit_code, code, err.decode(errors="replace"))
        self.err = err.decode()
        return out.decode()

    def write_machine(self, **keys):
        path = self.folder / "machine.json"
        path.write_text(json.dumps(keys))
        return windows_path(path)

    def partner(self, *words):
        return [windows_path(PARTNER), *words]


class Queries(Hmn):
    def test_version_and_help_are_printed(self):
        self.assertRegex(self.hmn("--version"), r"^hmn \d+\.\d+\.\d+")
        self.assertIn("doctor", self.hmn("--help"))

    def test_the_summary_has_the_memory_of_the_machine(self):
        text = self.hmn()
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (MIB << 10)
        summary_total = float(re.search(r"^RAM .*/(\S+)", text, re.M).group(1))
        self.assertAlmostEqual(summary_total, total, delta=total / 20)

    def test_the_snapshot_has_the_memory_of_this_process(self):
        snapshot = json.loads(self.hmn("snapshot"))
        jsonschema.validate(snapshot, load_schema("snapshot"))
        self.assertGreater(snapshot["memory"]["resident_bytes"], MIB)

    def test_ps_lists_nothing_without_a_driver(self):
        self.assertEqual(json.loads(self.hmn("ps", "--json")), [])
        self.assertIn("0 GPU processes found", self.err)

    def test_doctor_lists_no_sources_of_other_systems(self):
        text = self.hmn("doctor", code=1)  # Wine without a display has no graphics to list
        for title in ("Version", "NVIDIA", "Sources", "Job object", "Permissions", "GPUs", "Readings"):
            self.assertIn(f"\n{title}\n", "\n" + text)
        for name in ("amdgpu", "i915", "/proc", "/sys", "metal", "CAP_", "root"):
            self.assertNotIn(name, text)

    def test_example_machines_replay(self):
        for path in sorted((SOURCE / "examples" / "machines").glob("*.json")):
            code, out, _ = run([*COMMAND, "--json", "--machine", windows_path(path)])
            devices = json.loads(path.read_text()).get("devices", [])
            self.assertLessEqual(code, 1, path)
            if code == 0:
                self.assertGreaterEqual(len(json.loads(out)), len(devices), path)

    def test_a_missing_machine_file_is_reported_by_name(self):
        self.hmn("--machine", r"Z:\nowhere\x.json", code=1)
        self.assertIn(r'hmn: --machine "Z:\nowhere\x.json": ', self.err)

    def test_arguments_and_paths_are_unicode(self):
        path = self.folder / "Rechner-äöü-漢.json"
        path.write_text(json.dumps({"devices": [{"name": "Karte 漢", "pools": []}]}),
                        encoding="utf-8")
        devices = json.loads(self.hmn("--json", "--machine", windows_path(path)))
        self.assertEqual(devices[0]["name"], "Karte 漢")
        self.hmn("--machine", r"Z:\nirgends-漢.json", code=1)
        self.assertIn("nirgends-漢.json", self.err)

    def test_fit_accepts_windows_paths(self):
        model = SOURCE / "examples" / "models" / "llama-3-8b.json"
        machine = SOURCE / "examples" / "machines" / "workstation.json"
        report = json.loads(self.hmn("fit", "--json", "--machine", windows_path(machine),
                                     windows_path(model), code=3))
        # 8 030 261 248 parameters, as published, of 16 bits.
        self.assertEqual(report["weights_bytes"], 2 * 8_030_261_248)


# A reading is slow under Wine: with this interval the memory is allocated before hmn has used up its share of a core.
SELDOM = ("--interval", "300ms")


class Commands(Hmn):
    def measure(self, *words, code=0, options=()):
        target = self.folder / "run.json"
        self.output = self.hmn("run", "--output", windows_path(target), "--interval", "20ms", *options,
                               "--", *words, code=code)
        report = json.loads(target.read_text())
        jsonschema.validate(report, load_schema("run"))
        return report

    def test_exit_codes_are_passed_through(self):
        for code in (0, 3, 255):
            report = self.measure(*self.partner("exit", str(code)), code=code)
            self.assertEqual(report["exit_code"], code)
            self.assertIn(f"exit code {code} after", self.err)

    def test_all_32_bits_of_an_exit_code_are_reported(self):
        report = self.measure(*self.partner("exit", "0xC0000005"), code=5)
        self.assertEqual(report["exit_code"], 0xC0000005)

    def test_arguments_are_passed_through_unchanged(self):
        words = ["", "a b", 'say "x"', "back\\", "a b\\", '\\"', "tab\there", "漢 ö", "*.*", "%PATH%"]
        self.measure(*self.partner("words", *words))
        self.assertEqual(self.output.splitlines(), [f"[{word}]" for word in words])

    def test_the_peak_of_the_working_set_is_exact(self):
        report = self.measure(*self.partner("hold", "96"), options=SELDOM)
        self.assertGreaterEqual(report["largest_process"]["bytes"], 96 * MIB)
        self.assertLess(report["largest_process"]["bytes"], 160 * MIB)
        self.assertFalse(report["largest_process"]["upper_bound"])
        # Windows keeps the peak of a process that has ended, Wine does not.
        self.assertIn(report["largest_process"]["kind"], ("exact", "sampled"))

    def test_children_of_the_command_are_measured(self):
        report = self.measure(*self.partner("start", "hold", "64"), options=SELDOM)
        self.assertGreaterEqual(report["all_processes"]["bytes"], 64 * MIB)

    def test_a_job_without_a_value_is_reported_as_missing(self):
        report = self.measure(*self.partner("exit", "0"))
        self.assertIsNone(report["control_group"]["bytes"])
        self.assertIn("reason", report["control_group"])
        self.assertNotEqual(report["job_object"]["bytes"], 0)

    def test_a_command_that_cannot_be_started_sets_the_exit_code(self):
        self.hmn("run", "--", "no-such-program", code=127)
        self.assertIn('hmn: cannot run "no-such-program": ', self.err)
        text = self.folder / "notes.exe"
        text.write_text("no program")
        self.hmn("run", "--", windows_path(text), code=126)
        batch = self.folder / "tool.cmd"
        batch.write_text("@exit 0\r\n")
        self.hmn("run", "--", windows_path(batch), code=126)
        self.assertIn("is a batch file", self.err)

    def test_the_current_folder_is_not_searched(self):
        (self.folder / "planted.exe").write_bytes(pathlib.Path(PARTNER).read_bytes())
        self.hmn("run", "--", "planted", "exit", "0", code=127, cwd=self.folder)
        self.hmn("run", "--", r".\planted", "exit", "0", cwd=self.folder)

    def test_spill_reports_that_nothing_can_be_measured(self):
        machine = self.write_machine(devices=[])
        target = self.folder / "spill.json"
        self.hmn("spill", "--machine", machine, "--output", windows_path(target), "--",
                 *self.partner("exit", "3"), code=3)
        report = json.loads(target.read_text())
        jsonschema.validate(report, load_schema("spill"))
        self.assertEqual((report["measurable"], report["exit_status"]), (False, 3))

    def test_a_file_of_another_kind_is_replaced_with_force_only(self):
        path = self.folder / "train.bat"
        path.write_text("mine")
        for words in (("run", "--output"), ("spill", "--output"), ("exporter", "--textfile")):
            command = () if words[0] == "exporter" else self.partner("exit", "0")
            self.hmn(*words, windows_path(path), *command, code=125 if command else 1)
            self.assertIn("is there already", self.err)
            if command:
                self.hmn(*words, windows_path(path), "--force", "no-such-command", code=127)
            self.assertEqual(path.read_text(), "mine")
        self.hmn("run", "--force", "--output", windows_path(path), *self.partner("exit", "0"))
        self.assertEqual(json.loads(path.read_text())["exit_code"], 0)

    def test_wait_times_out_or_starts_the_command(self):
        card = {"name": "Card", "vendor": "nvidia", "uuid": "GPU-1",
                "pools": [{"kind": "vram", "total": "16GiB", "used": "8GiB"}]}
        machine = self.write_machine(devices=[card])
        self.hmn("wait", "--free", "12GiB", "--timeout", "200ms", "--interval", "50ms", "--machine", machine,
                 code=124)
        self.assertIn("timed out: ", self.err)
        out = self.hmn("wait", "--free", "4GiB", "--machine", machine, "--",
                       *self.partner("variable", "CUDA_VISIBLE_DEVICES"))
        self.assertEqual(out, "GPU-1\n")
        self.hmn("wait", "--free", "4GiB", "--machine", machine, "--", *self.partner("exit", "3"), code=3)

    def test_a_recording_replays(self):
        target = self.folder / "machine.rec"
        self.hmn("record-machine", windows_path(target))
        self.assertIn(f'hmn: "{windows_path(target)}": {target.stat().st_size} bytes; ', self.err)
        self.assertEqual(json.loads(target.read_text())["recording"]["page_size"], 4096)
        self.assertEqual(json.loads(self.hmn("--json", "--machine", windows_path(target))), [])

    def test_record_machine_refuses_an_existing_file(self):
        target = self.folder / "kept.json"
        target.write_text("mine")
        self.hmn("record-machine", windows_path(target), code=1)
        self.assertIn("is there already; --force replaces it", self.err)
        self.assertEqual(target.read_text(), "mine")


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
