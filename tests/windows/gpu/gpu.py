# SPDX-License-Identifier: MIT OR Apache-2.0
"""gpu.py PROBE SPILL_PROBE LIBRARY FAKES PREFIX: the GPUs of Windows under Wine, with system libraries of our own.
None of Wine's own answers is a measurement: its constants are asserted nowhere."""
import shutil

import machine
from machine import (ABSENT, CARD, DXGI, FAKES, GIB, HUNG, MIB, NVML, OF_CARD, OFF_STATE, OTHER, PDH, READY, SMI,
                     SPILL_PROBE, Machine, adapter_counters, lines, process_counters)

MEASURABLE, NOW, EVER, BY_SHARED = 1, 2, 4, 1


class TwoCards(Machine):
    def test_adapters_and_their_pools(self):
        self.probe(off=NVML | SMI)
        self.assertEqual([d["name"] for d in self.taken["devices"]], [CARD["name"], OTHER["name"]])
        card, other = self.device(CARD["name"]), self.device(OTHER["name"])
        self.assertEqual(card["os_id"], 0x103D8)
        self.assertEqual(other["vendor"], "amd")
        self.assertEqual(card["driver_version"], "31.0.15.3623")
        vram, host = self.pool(card, "vram"), self.pool(card, "host")
        self.assertEqual((vram["total_bytes"], vram["used_bytes"], vram["budget_bytes"]),
                         (12 * GIB, 900 * MIB, 11 * GIB))
        self.assertEqual((host["total_bytes"], host["used_bytes"], host["budget_bytes"]),
                         (16 * GIB, 120 * MIB, 15 * GIB))
        self.assertEqual(self.pool(other, "vram")["used_bytes"], 64 * MIB)
        self.assertEqual((card["self"]["used_bytes"], card["self"]["host_pool_bytes"]),
                         (700 * MIB, 30 * MIB))

    def test_processes_and_load(self):
        self.probe(off=NVML | SMI, readings=2)
        card = self.device(CARD["name"])
        row = self.rows(card)[4321]
        self.assertEqual((row["used_bytes"], row["resident_bytes"], row["committed_bytes"]),
                         (750 * MIB, 750 * MIB, 800 * MIB))
        self.assertEqual((row["accounting"], row["host_pool_bytes"]), ("resident", 40 * MIB))
        self.assertEqual(row["busy_percent"], 30)
        self.assertEqual(card["telemetry"]["gpu_busy_percent"], 42)
        self.assertEqual(self.rows(self.device(OTHER["name"])), {})
        self.assertEqual(self.sources["pdh"][0], READY)

    def test_nvml_and_dxgi_report_of_one_card(self):
        self.probe(adapters=(OTHER, CARD), readings=2)
        self.assertEqual(len(self.taken["devices"]), 2)
        card = self.device(CARD["name"])
        self.assertEqual((card["index"], card["backend"], card["os_id"]), (0, "nvml", 0x103D8))
        self.assertEqual(card["pci_bus_id"], "0000:01:00.0")
        vram = self.pool(card, "vram")
        self.assertEqual((vram["backend"], vram["used_bytes"], vram["budget_bytes"]),
                         ("nvml", GIB, 11 * GIB))
        self.assertIn("mixed", vram["notes"])
        self.assertEqual(self.pool(card, "host")["used_bytes"], 120 * MIB)
        self.assertEqual(self.rows(card)[4321]["used_bytes"], 750 * MIB)
        self.assertEqual(card["telemetry"]["temperature_celsius"], 47)
        self.assertEqual(card["telemetry"]["gpu_busy_percent"], 42)

    def test_a_compute_card_is_nvmls_alone(self):
        self.probe(adapters=(OTHER,), HMN_FAKE_NVML_TCC="1")
        card = self.device(CARD["name"])
        row = self.rows(card)[4321]
        self.assertEqual((row["used_bytes"], row["accounting"], row["backend"]),
                         (GIB // 2, "allocated", "nvml"))
        self.assertNotIn("foreign_pid", row["notes"])

    def test_a_bad_adapter_is_skipped(self):
        self.probe(adapters=(CARD | {"trouble": "undescribed"}, OTHER), off=NVML | SMI)
        self.assertEqual([d["name"] for d in self.taken["devices"]], [OTHER["name"]])
        reported = self.reasons("dxgi", "devices")
        self.assertEqual(reported[0]["native_code"] & 0xFFFFFFFF, 0x887A0005)

    def test_without_the_newer_interface_the_budget_is_absent(self):
        self.probe(adapters=(CARD | {"trouble": "no memory interface"},), off=NVML | SMI)
        card = self.device(CARD["name"])
        self.assertIsNone(self.pool(card, "vram")["budget_bytes"])
        self.assertEqual(self.pool(card, "vram")["used_bytes"], 900 * MIB)
        reported = [d for d in self.reasons("dxgi", "pools") if d["fields"] == ["budget_bytes"]]
        self.assertEqual(reported[0]["native_code"] & 0xFFFFFFFF, 0x80004002)

    def test_a_removed_card_has_no_values(self):
        self.probe(adapters=(CARD | {"trouble": "no memory answer"}, OTHER), off=NVML | SMI)
        self.assertIsNone(self.pool(self.device(CARD["name"]), "vram"))
        self.assertIsNotNone(self.pool(self.device(OTHER["name"]), "vram"))

    def test_counters_that_are_not_there(self):
        self.probe(counters=[], off=NVML | SMI)
        card = self.device(CARD["name"])
        self.assertEqual(self.pool(card, "vram")["total_bytes"], 12 * GIB)
        self.assertIsNone(self.pool(card, "vram")["used_bytes"])
        self.assertEqual(self.sources["pdh"][0], ABSENT)
        self.assertEqual(self.reasons("pdh", "pools")[0]["native_code"] & 0xFFFFFFFF, 0xC0000BB8)

    def test_rows_that_are_added_while_they_are_read(self):
        self.probe(off=NVML | SMI, HMN_FAKE_PDH_GROWS="3")
        rows = self.rows(self.device(CARD["name"]))
        self.assertEqual(rows[4321]["used_bytes"], 750 * MIB)
        self.assertGreaterEqual(len(rows), 2)

    def test_a_row_that_fails_voids_no_other(self):
        counters = [*adapter_counters(), *process_counters(),
                    ("GPU Process Memory", "Dedicated Usage", f"pid_7_{OF_CARD}_phys_0", 5, "0x800007D1"),
                    ("GPU Process Memory", "Dedicated Usage", "nonsense", 5)]
        self.probe(counters=counters, off=NVML | SMI)
        rows = self.rows(self.device(CARD["name"]))
        self.assertEqual(sorted(rows), [7, 4321])
        self.assertIsNone(rows[7]["used_bytes"])
        self.assertEqual(rows[4321]["used_bytes"], 750 * MIB)

    def test_a_factory_that_fails(self):
        self.probe(off=NVML | SMI, HMN_FAKE_DXGI_FACTORY="0x887A0022")
        self.assertEqual(self.taken["devices"], [])
        self.assertEqual(int(self.sources["dxgi"][2]) & 0xFFFFFFFF, 0x887A0022)

    def test_a_hang_keeps_the_deadline_and_holds_up_nobody(self):
        self.probe(deadline_ms=2000, HMN_FAKE_DXGI_HANG="1")
        self.assertEqual([d["name"] for d in self.taken["devices"]], [CARD["name"]])
        self.assertEqual(self.device(CARD["name"])["backend"], "nvml")
        self.assertEqual(self.reasons("dxgi", "devices")[0]["status"], "HMN_E_TIMEOUT")

    def test_an_nvml_that_hangs_as_it_opens(self):
        # Less than the 10 s that an opening may take.
        self.probe(deadline_ms=6000, HMN_FAKE_NVML_HANG="nvmlInit_v2")
        self.check_without_nvml("dxgi")

    def test_an_nvml_that_hangs_over_its_list(self):
        self.probe(deadline_ms=8000, HMN_FAKE_NVML_HANG="nvmlDeviceGetMemoryInfo")
        self.check_without_nvml("dxgi")

    def test_an_nvml_that_hangs_over_a_value(self):
        self.probe(deadline_ms=8000, HMN_FAKE_NVML_HANG="nvmlDeviceGetTemperature")
        self.check_without_nvml("nvml")

    def check_without_nvml(self, identity):
        """The card's identity may have been read before."""
        self.assertEqual([d["name"] for d in self.taken["devices"]], [CARD["name"], OTHER["name"]])
        card, other = self.device(CARD["name"]), self.device(OTHER["name"])
        self.assertEqual((card["backend"], card["os_id"]), (identity, 0x103D8))
        self.assertEqual(self.pool(card, "vram")["used_bytes"], 900 * MIB)
        self.assertEqual(self.pool(other, "vram")["used_bytes"], 64 * MIB)
        self.assertEqual(self.rows(card)[4321]["used_bytes"], 750 * MIB)
        late = {d["backend"] for d in self.taken["diagnostics"] if d["status"] == "HMN_E_TIMEOUT"}
        self.assertEqual((late, self.sources["nvml"][0]), ({"nvml"}, HUNG))

    def test_the_counters_can_be_left_out(self):
        self.probe(off=NVML | SMI | PDH)
        self.assertEqual(self.pool(self.device(CARD["name"]), "vram")["budget_bytes"], 11 * GIB)
        self.assertEqual(self.sources["pdh"][0], OFF_STATE)
        self.probe(off=NVML | SMI | DXGI)
        self.assertEqual(self.taken["devices"], [])


class Reset(Machine):
    """A driver that starts again gives its card another number; the counters of before are no more."""
    AFTER = "luid_0x00000000_0x00077777"

    def reset(self, *more, **settings):
        after = [(kind, name, instance.replace(OF_CARD, self.AFTER), 2 * value)
                 for kind, name, instance, value in (*adapter_counters(), *process_counters())]
        adapters = lines(a.values() for a in (CARD | {"luid": "0x77777"}, OTHER))
        then = ("HMN_FAKE_DXGI=" + self.windows_path("dxgi-after.txt", adapters),
                "HMN_FAKE_PDH=" + self.windows_path("pdh-after.txt", lines(after)),
                "HMN_FAKE_PDH_RESET=1", *more)
        self.probe(readings=2, then=then, **settings)

    def check_the_card(self):
        card = self.device(CARD["name"])
        self.assertEqual(card["os_id"], 0x77777)
        self.assertEqual(self.pool(card, "host")["used_bytes"], 240 * MIB)
        row = self.rows(card)[4321]
        self.assertEqual((row["resident_bytes"], row["committed_bytes"]), (1500 * MIB, 1600 * MIB))
        return card

    def test_the_card_goes_on_under_its_index(self):
        self.reset()
        self.assertEqual(self.check_the_card()["index"], 0)
        self.assertEqual(len(self.taken["devices"]), 2)

    def test_without_nvml_it_is_found_anew(self):
        self.reset(off=NVML | SMI)
        states = {(d["os_id"], d["state"]) for d in self.taken["devices"]}
        self.assertEqual(states, {(0x103D8, "lost"), (0x77777, "ready"), (0x1A2B3, "ready")})

    def test_a_query_that_fails_is_opened_anew(self):
        after = lines((kind, name, instance, 2 * value)
                      for kind, name, instance, value in (*adapter_counters(), *process_counters()))
        self.probe(readings=2, off=NVML | SMI, then=(
            "HMN_FAKE_PDH=" + self.windows_path("pdh-after.txt", after), "HMN_FAKE_PDH_RESET=1",
            "HMN_FAKE_PDH_REFUSES=1"))
        card = self.device(CARD["name"])
        self.assertEqual(self.pool(card, "vram")["used_bytes"], 1800 * MIB)
        self.assertEqual(self.sources["pdh"][0], READY)


class Spill(Machine):
    def observe(self, first, *later):
        """Each observation: status, state, rules, dedicated, shared, limit."""
        files = [self.windows_path(f"later{i}.txt", lines(rows)) for i, rows in enumerate(later)]
        reported = self.run_under_wine(SPILL_PROBE, hex(NVML | SMI), *files, adapters=(CARD,),
                                   counters=first)
        return [tuple(int(word) for word in line.split(" ")[:6]) for line in reported]

    @staticmethod
    def in_use(dedicated, shared):
        return [("GPU Adapter Memory", "Dedicated Usage", f"{OF_CARD}_phys_0", dedicated),
                ("GPU Adapter Memory", "Shared Usage", f"{OF_CARD}_phys_0", shared)]

    def test_shared_memory_that_grows_beside_a_full_card(self):
        threshold = 12 * GIB // 100 * 85
        reported = self.observe(self.in_use(GIB, 100 * MIB),
                            self.in_use(threshold, 356 * MIB - 1),
                            self.in_use(threshold - 1, 900 * MIB),
                            self.in_use(threshold, 356 * MIB),
                            self.in_use(GIB, 100 * MIB))
        self.assertEqual([state for _, state, *_ in reported],
                         [MEASURABLE, MEASURABLE, MEASURABLE, MEASURABLE | NOW | EVER,
                          MEASURABLE | EVER])
        self.assertEqual(reported[3][2:], (BY_SHARED, threshold, 356 * MIB, 12 * GIB))

    def test_what_was_promised_is_no_spill(self):
        promised = [("GPU Process Memory", "Dedicated Usage", f"pid_1_{OF_CARD}_phys_0", 20 * GIB),
                    ("GPU Process Memory", "Shared Usage", f"pid_1_{OF_CARD}_phys_0", 9 * GIB),
                    ("GPU Process Memory", "Local Usage", f"pid_1_{OF_CARD}_phys_0", 11 * GIB)]
        reported = self.observe(self.in_use(GIB, 100 * MIB), self.in_use(11 * GIB, 100 * MIB) + promised)
        self.assertEqual([state for _, state, *_ in reported], [MEASURABLE, MEASURABLE])

    def test_without_counters_it_is_not_measurable(self):
        reported = self.observe([], [])
        self.assertEqual([state for _, state, *_ in reported], [0, 0])
        self.assertTrue(all(status < 0 for status, *_ in reported))


class WithoutNvml(Machine):
    FAKES = ("nvidia-smi.exe",)

    def test_the_command_stands_in(self):
        self.probe(off=DXGI)
        card = self.device(CARD["name"])
        self.assertEqual(card["backend"], "nvidia-smi")
        self.assertEqual(self.pool(card, "vram")["used_bytes"], 1024 * MIB)
        self.assertEqual(self.sources["nvml"][0], ABSENT)

    def test_the_folder_of_older_drivers_comes_second(self):
        drive = self.folder / "prefix/drive_c"
        usual, older = drive / "windows/system32", drive / "Program Files/NVIDIA Corporation/NVSMI"
        older.mkdir(parents=True)
        shutil.move(usual / "nvidia-smi.exe", older)
        self.addCleanup(shutil.move, older / "nvidia-smi.exe", usual)
        self.probe(off=DXGI)
        self.assertEqual(self.device(CARD["name"])["backend"], "nvidia-smi")

    def test_no_other_folder_is_looked_in(self):
        usual = self.folder / "prefix/drive_c/windows/system32"
        shutil.move(usual / "nvidia-smi.exe", self.folder)
        self.addCleanup(shutil.move, self.folder / "nvidia-smi.exe", usual)
        self.probe(off=DXGI, WINEPATH="Z:" + str(self.folder).replace("/", "\\"))
        self.assertEqual(self.sources["nvidia-smi"][0], ABSENT)

    def test_a_command_that_hangs_is_ended(self):
        mark = self.folder / "prefix/drive_c/windows/system32/nvidia-smi.exe.hang"
        mark.touch()
        self.addCleanup(mark.unlink)
        self.probe(off=DXGI, deadline_ms=3000)
        self.assertEqual(self.reasons("nvidia-smi", "devices")[0]["status"], "HMN_E_TIMEOUT")

    def test_a_library_beside_the_program_is_not_loaded(self):
        shutil.copy(FAKES / "nvml.dll", self.folder / "nvml.dll")
        mark = self.folder / "planted"
        self.probe(off=DXGI | SMI, HMN_FAKE_NVML_PLANTED="Z:" + str(mark).replace("/", "\\"))
        self.assertFalse(mark.exists())
        self.assertEqual(self.sources["nvml"][0], ABSENT)


class Bare(Machine):
    FAKES = ()

    def test_nothing_is_there(self):
        self.probe()
        self.assertEqual(self.taken["devices"], [])
        self.assertEqual([self.sources[s][0] for s in ("nvml", "nvidia-smi", "dxgi")], [ABSENT] * 3)

    def test_wines_own_adapter(self):
        """Tables of functions and identifiers that are not ours."""
        self.probe(WINE_D3D_CONFIG="renderer=no3d,VideoMemorySize=8192")
        self.assertEqual(len(self.taken["devices"]), 1)
        self.assertEqual(self.sources["dxgi"][0], READY)
        device = self.taken["devices"][0]
        self.assertTrue(device["name"])
        self.assertEqual(self.pool(device, "vram")["total_bytes"], 8 * GIB)
        self.assertIsNone(self.pool(device, "vram")["used_bytes"])


if __name__ == "__main__":
    machine.main("windows.gpu")
