# SPDX-License-Identifier: MIT OR Apache-2.0
"""hmn.py PROBE SPILL_PROBE LIBRARY FAKES PREFIX HMN: hmn.exe under Wine with an NVIDIA and an AMD card of the fakes."""
import json
import pathlib
import shutil
import sys

from machine import CARD, GIB, MIB, OFF, OTHER, SOFTWARE, Machine, adapter_counters, lines, main, process_counters, run_wine

HMN = pathlib.Path(sys.argv[6]).resolve()


class Command(Machine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(HMN, cls.folder / "hmn.exe")

    def hmn(self, *words, code=0):
        env = self.environment() | {
            "WINEDLLOVERRIDES": f"{OFF};dxgi,pdh,nvml=n",
            "HMN_FAKE_DXGI": self.windows_path("dxgi.txt", lines(a.values() for a in (CARD, OTHER, SOFTWARE))),
            "HMN_FAKE_PDH": self.windows_path("pdh.txt", lines([*adapter_counters(), *process_counters()]))}
        out, err = self.folder / "out", self.folder / "err"
        done = run_wine(env, out, err, self.folder / "hmn.exe", *words)
        self.err = err.read_text()
        self.assertEqual(done.returncode, code, self.err)
        return out.read_text()

    def test_both_cards_are_reported_and_no_software(self):
        devices = json.loads(self.hmn("--json"))
        self.assertEqual([(d["index"], d["name"]) for d in devices], [(0, CARD["name"]), (1, OTHER["name"])])
        self.assertEqual([d["total_bytes"] for d in devices], [12 * GIB, 8 * GIB])
        self.assertEqual(devices[1]["free_bytes"], 8 * GIB - 64 * MIB)

    def test_the_other_card_is_named_by_index_and_luid(self):
        for key in ("1", "luid:1a2b3"):
            samples = self.hmn("log", "--json", "--count", "1", "--device", key).splitlines()
            self.assertEqual([json.loads(line)["name"] for line in samples], [OTHER["name"]], key)

    def test_processes_of_the_counters(self):
        rows = json.loads(self.hmn("ps", "--json"))
        row = next(r for r in rows if r["pid"] == 4321)
        self.assertEqual((row["device_index"], row["used_bytes"]), (0, 750 * MIB))
        # No such process is there.
        self.assertEqual(row["name_state"], "exited")

    def test_spill_is_measurable_on_either_card(self):
        # What is used of the first is NVML's value, 1 GiB.
        for key, total, used, shared in (("0", 12 * GIB, GIB, 120 * MIB), ("1", 8 * GIB, 64 * MIB, 32 * MIB)):
            target = self.folder / "spill.json"
            self.hmn("spill", "--device", key, "--output", "Z:" + str(target).replace("/", "\\"), "--",
                     "cmd", "/c", "exit 3", code=3)
            said = json.loads(target.read_text())
            self.assertEqual((said["measurable"], said["spilled"]), (True, False))
            names = ("dedicated_limit_bytes", "peak_dedicated_bytes", "baseline_shared_bytes")
            self.assertEqual([said[name] for name in names], [total, used, shared])

    def test_wait_takes_the_card_with_free_memory(self):
        said = json.loads(self.hmn("wait", "--free", "7GiB", "--device", "1", "--json"))
        self.assertEqual((said["index"], said["free_bytes"]), (1, 7 * GIB))  # its budget, of which none is used

    def test_the_doctor_has_the_sources(self):
        text = self.hmn("doctor")
        for name in ("dxgi", "pdh", "nvml"):
            self.assertIn(name, text)
        self.assertIn(OTHER["name"], text)
        self.assertIn("ok    NVML answers, driver 536.23\n  note  nvidia-smi: not needed\n", text)
        # A load that comes with the second reading is no fault.
        self.assertIn("note  GPU 1: Windows reports a load only from the second reading on", text)
        self.assertNotIn("FAIL", text)

    def test_each_value_has_its_own_reason(self):
        text = self.hmn("log", "--count", "1", "--device", "1")
        self.assertIn("load unknown (Windows reports a load only from the second reading on)", text)
        self.assertIn("temperature unknown (not reported by Windows' counters)", text)


if __name__ == "__main__":
    main("windows.hmn")
