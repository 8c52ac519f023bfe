# SPDX-License-Identifier: MIT OR Apache-2.0
"""gpu.py PROBE SPILL_PROBE LIBRARY FAKES PREFIX: the GPUs of Windows under Wine, with system libraries of our own.

Each set of fakes stands in a prefix of its own, made of hard links to PREFIX. Of Wine's own answers
none is a figure: its constants are asserted nowhere."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROBE, SPILL_PROBE, LIBRARY, FAKES, PREFIX = (pathlib.Path(p).resolve() for p in sys.argv[1:6])
OFF = "winedbg.exe,mscoree,mshtml,winemenubuilder.exe=d"
MIB, GIB = 1 << 20, 1 << 30

CARD = {"luid": "0x103D8", "vendor": "0x10de", "device": "0x2786", "subsystem": "0x40fa1458",
        "flags": 0, "dedicated": 12 * GIB, "shared": 16 * GIB, "budget": 11 * GIB,
        "used": 700 * MIB, "host_budget": 15 * GIB, "host_used": 30 * MIB,
        "name": "NVIDIA GeForce RTX 4070", "trouble": ""}
OTHER = CARD | {"luid": "0x1A2B3", "vendor": "0x1002", "device": "0x7480",
                "subsystem": "0x13371002", "dedicated": 8 * GIB, "budget": 7 * GIB, "used": 0,
                "name": "AMD Radeon RX 7600"}
SOFTWARE = CARD | {"luid": "0x2", "vendor": "0x1414", "device": "0x8c", "subsystem": 0, "flags": 2,
                   "dedicated": 0, "name": "Microsoft Basic Render Driver"}
OF_CARD, OF_OTHER = "luid_0x00000000_0x000103D8", "luid_0x00000000_0x0001A2B3"


def adapter_counters():
    yield "GPU Adapter Memory", "Dedicated Usage", f"{OF_CARD}_phys_0", 600 * MIB
    yield "GPU Adapter Memory", "Dedicated Usage", f"{OF_CARD}_phys_1", 300 * MIB
    yield "GPU Adapter Memory", "Shared Usage", f"{OF_CARD}_phys_0", 120 * MIB
    yield "GPU Adapter Memory", "Dedicated Usage", f"{OF_OTHER}_phys_0", 64 * MIB
    yield "GPU Adapter Memory", "Shared Usage", f"{OF_OTHER}_phys_0", 32 * MIB


def process_counters():
    yield "GPU Process Memory", "Dedicated Usage", f"pid_4321_{OF_CARD}_phys_0", 800 * MIB
    yield "GPU Process Memory", "Shared Usage", f"pid_4321_{OF_CARD}_phys_0", 40 * MIB
    yield "GPU Process Memory", "Local Usage", f"pid_4321_{OF_CARD}_phys_0", 750 * MIB
    yield "GPU Engine", "Utilization Percentage", f"pid_4321_{OF_CARD}_phys_0_eng_0_engtype_3D", 30
    yield "GPU Engine", "Utilization Percentage", f"pid_9_{OF_CARD}_phys_0_eng_0_engtype_3D", 12


def clone(folder, fakes):
    """A prefix with fakes in the system's folder; files that are replaced are links no more."""
    subprocess.run(["cp", "-al", PREFIX, folder], check=True)
    system = folder / "drive_c/windows/system32"
    for name in fakes:
        subprocess.run(["cp", "--remove-destination", FAKES / name, system / name], check=True)


def lines(rows):
    return "".join(";".join(str(cell) for cell in row) + "\n" for row in rows)


class Machine(unittest.TestCase):
    FAKES = ("dxgi.dll", "pdh.dll", "nvml.dll", "nvidia-smi.exe")

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hmn-gpu-", dir=PREFIX.parent))
        clone(cls.folder / "prefix", cls.FAKES)
        for path in (PROBE, SPILL_PROBE, LIBRARY):
            shutil.copy(path, cls.folder)
        # One that goes when it has nothing to do would refuse a program that comes at that moment.
        cls.server("--persistent")

    @classmethod
    def tearDownClass(cls):
        cls.server("--kill")
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def server(cls, order):
        nothing = subprocess.DEVNULL
        subprocess.run(["wineserver", order], env=cls.environment(), stdin=nothing, stdout=nothing,
                       stderr=nothing, check=False)

    @classmethod
    def environment(cls):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HMN_") and k != "DISPLAY"}
        return kept | {"WINEPREFIX": str(cls.folder / "prefix"), "WINEDEBUG": "-all"}

    def windows_path(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return "Z:" + str(path).replace("/", "\\")

    def run_under_wine(self, program, *arguments, adapters, counters, **more):
        """What it prints, line by line."""
        names = [n[:-4] for n in self.FAKES if n.endswith(".dll")]
        loads = f"{OFF};{','.join(names)}=n" if names else OFF
        env = self.environment() | {"WINEDLLOVERRIDES": loads} | more
        env["HMN_FAKE_DXGI"] = self.windows_path("dxgi.txt", lines(a.values() for a in adapters))
        env["HMN_FAKE_PDH"] = self.windows_path("pdh.txt", lines(counters))
        # A pipe would stay open as long as Wine's helpers, which outlive the program.
        answer = self.folder / "answer"
        with answer.open("w") as out:
            done = subprocess.run(
                ["wine", self.folder / program.name, *arguments], env=env, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, answer.read_text())
        return answer.read_text().splitlines()

    def probe(self, adapters=(CARD, OTHER, SOFTWARE), counters=None, readings=1, off=0,
              deadline_ms=20000, then=(), **more):
        """`then`: variables that change between the readings and as many again."""
        if counters is None:
            counters = [*adapter_counters(), *process_counters()]
        picture, *sources = self.run_under_wine(PROBE, str(readings), hex(off), str(deadline_ms), *then,
                                                adapters=adapters, counters=counters, **more)
        self.sources = {line.split(" ", 4)[0]: line.split(" ", 4)[1:] for line in sources}
        self.picture = json.loads(picture)
        return self.picture

    def device(self, name):
        found = [d for d in self.picture["devices"] if d["name"] == name]
        self.assertEqual(len(found), 1, self.picture["devices"])
        return found[0]

    def pool(self, device, kind):
        found = [p for p in self.picture["pools"]
                 if p["device_index"] == device["index"] and p["kind"] == kind]
        return found[0] if found else None

    def rows(self, device):
        return {u["pid"]: u for u in self.picture["usages"] if u["device_index"] == device["index"]}

    def reasons(self, backend, subject):
        return [d for d in self.picture["diagnostics"]
                if d["backend"] == backend and d["subject"] == subject]


READY, OFF_STATE, ABSENT = "1", "7", "6"
MEASURABLE, NOW, EVER, BY_SHARED = 1, 2, 4, 1
NVML, SMI, DXGI, PDH = (1 << n for n in (2, 3, 10, 11))


class TwoCards(Machine):
    def test_adapters_and_their_pools(self):
        self.probe(off=NVML | SMI)
        self.assertEqual([d["name"] for d in self.picture["devices"]], [CARD["name"], OTHER["name"]])
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

    def test_nvml_and_dxgi_tell_of_one_card(self):
        self.probe(adapters=(OTHER, CARD), readings=2)
        self.assertEqual(len(self.picture["devices"]), 2)
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
        self.assertEqual([d["name"] for d in self.picture["devices"]], [OTHER["name"]])
        told = self.reasons("dxgi", "devices")
        self.assertEqual(told[0]["native_code"] & 0xFFFFFFFF, 0x887A0005)

    def test_without_the_newer_interface_the_budget_is_absent(self):
        self.probe(adapters=(CARD | {"trouble": "no memory interface"},), off=NVML | SMI)
        card = self.device(CARD["name"])
        self.assertIsNone(self.pool(card, "vram")["budget_bytes"])
        self.assertEqual(self.pool(card, "vram")["used_bytes"], 900 * MIB)
        told = [d for d in self.reasons("dxgi", "pools") if d["fields"] == ["budget_bytes"]]
        self.assertEqual(told[0]["native_code"] & 0xFFFFFFFF, 0x80004002)

    def test_a_removed_card_has_no_figures(self):
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
        self.assertEqual(self.picture["devices"], [])
        self.assertEqual(int(self.sources["dxgi"][2]) & 0xFFFFFFFF, 0x887A0022)

    def test_a_hang_keeps_the_deadline_and_holds_up_nobody(self):
        self.probe(deadline_ms=2000, HMN_FAKE_DXGI_HANG="1")
        self.assertEqual([d["name"] for d in self.picture["devices"]], [CARD["name"]])
        self.assertEqual(self.device(CARD["name"])["backend"], "nvml")
        self.assertEqual(self.reasons("dxgi", "devices")[0]["status"], "HMN_E_TIMEOUT")

    def test_the_counters_can_be_left_out(self):
        self.probe(off=NVML | SMI | PDH)
        self.assertEqual(self.pool(self.device(CARD["name"]), "vram")["budget_bytes"], 11 * GIB)
        self.assertEqual(self.sources["pdh"][0], OFF_STATE)
        self.probe(off=NVML | SMI | DXGI)
        self.assertEqual(self.picture["devices"], [])


class Reset(Machine):
    """A driver that starts anew gives its card another number; the counters of before are no more."""
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
        self.assertEqual(len(self.picture["devices"]), 2)

    def test_without_nvml_it_is_found_anew(self):
        self.reset(off=NVML | SMI)
        states = {(d["os_id"], d["state"]) for d in self.picture["devices"]}
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
        """What each observation says: status, state, rules, dedicated, shared, limit."""
        files = [self.windows_path(f"later{i}.txt", lines(rows)) for i, rows in enumerate(later)]
        told = self.run_under_wine(SPILL_PROBE, hex(NVML | SMI), *files, adapters=(CARD,),
                                   counters=first)
        return [tuple(int(word) for word in line.split(" ")[:6]) for line in told]

    @staticmethod
    def in_use(dedicated, shared):
        return [("GPU Adapter Memory", "Dedicated Usage", f"{OF_CARD}_phys_0", dedicated),
                ("GPU Adapter Memory", "Shared Usage", f"{OF_CARD}_phys_0", shared)]

    def test_shared_memory_that_grows_beside_a_full_card(self):
        threshold = 12 * GIB // 100 * 85
        told = self.observe(self.in_use(GIB, 100 * MIB),
                            self.in_use(threshold, 356 * MIB - 1),
                            self.in_use(threshold - 1, 900 * MIB),
                            self.in_use(threshold, 356 * MIB),
                            self.in_use(GIB, 100 * MIB))
        self.assertEqual([state for _, state, *_ in told],
                         [MEASURABLE, MEASURABLE, MEASURABLE, MEASURABLE | NOW | EVER,
                          MEASURABLE | EVER])
        self.assertEqual(told[3][2:], (BY_SHARED, threshold, 356 * MIB, 12 * GIB))

    def test_what_was_promised_is_no_spill(self):
        promised = [("GPU Process Memory", "Dedicated Usage", f"pid_1_{OF_CARD}_phys_0", 20 * GIB),
                    ("GPU Process Memory", "Shared Usage", f"pid_1_{OF_CARD}_phys_0", 9 * GIB),
                    ("GPU Process Memory", "Local Usage", f"pid_1_{OF_CARD}_phys_0", 11 * GIB)]
        told = self.observe(self.in_use(GIB, 100 * MIB), self.in_use(11 * GIB, 100 * MIB) + promised)
        self.assertEqual([state for _, state, *_ in told], [MEASURABLE, MEASURABLE])

    def test_without_counters_it_is_not_measurable(self):
        told = self.observe([], [])
        self.assertEqual([state for _, state, *_ in told], [0, 0])
        self.assertTrue(all(status < 0 for status, *_ in told))


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
        self.assertEqual(self.picture["devices"], [])
        self.assertEqual([self.sources[s][0] for s in ("nvml", "nvidia-smi", "dxgi")], [ABSENT] * 3)

    def test_wines_own_adapter(self):
        """Tables of functions and identifiers that are not ours."""
        self.probe(WINE_D3D_CONFIG="renderer=no3d,VideoMemorySize=8192")
        self.assertEqual(len(self.picture["devices"]), 1)
        self.assertEqual(self.sources["dxgi"][0], READY)
        device = self.picture["devices"][0]
        self.assertTrue(device["name"])
        self.assertEqual(self.pool(device, "vram")["total_bytes"], 8 * GIB)
        self.assertIsNone(self.pool(device, "vram")["used_bytes"])


if __name__ == "__main__":
    if shutil.which("wine") is None or not PREFIX.is_dir():
        print("skipped: windows.gpu: there is no Wine, or no prefix of it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
