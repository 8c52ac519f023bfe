# SPDX-License-Identifier: MIT OR Apache-2.0
"""A machine under Wine with system libraries of our own. Words of the program: PROBE SPILL_PROBE LIBRARY FAKES PREFIX.

Each set of fakes is in a prefix of its own, made of hard links to PREFIX."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROBE, SPILL_PROBE, LIBRARY, FAKES, PREFIX = (pathlib.Path(p).resolve() for p in sys.argv[1:6])
OFF = "winedbg.exe,mscoree,mshtml,winemenubuilder.exe=d"
MIB, GIB = 1 << 20, 1 << 30
READY, HUNG, ABSENT, OFF_STATE = "1", "5", "6", "7"
NVML, SMI, DXGI, PDH = (1 << n for n in (2, 3, 10, 11))

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


def run_wine(env, out, err, *command):
    """What `command` writes goes to files: a pipe would stay open as long as Wine's helpers, which outlive it.

    Wine's server kills a process that has ended but is not gone half a second later, as happens on a busy
    machine: its own exit status is lost, so it runs again. A fault of its own is an exit status under Wine.
    """
    for _ in range(3):
        with contextlib.ExitStack() as files:
            streams = [files.enter_context(path.open("w")) if path else subprocess.STDOUT for path in (out, err)]
            done = subprocess.run(["wine", *command], env=env, stdin=subprocess.DEVNULL, stdout=streams[0],
                                  stderr=streams[1], timeout=120, check=False)
        if done.returncode != -signal.SIGKILL:
            break
    return done


def lines(rows):
    return "".join(";".join(str(cell) for cell in row) + "\n" for row in rows)


class Machine(unittest.TestCase):
    FAKES = ("dxgi.dll", "pdh.dll", "nvml.dll", "nvidia-smi.exe")

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hmn-gpu-", dir=PREFIX.parent))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        clone(cls.folder / "prefix", cls.FAKES)
        for path in (PROBE, SPILL_PROBE, LIBRARY):
            shutil.copy(path, cls.folder)
        # One that goes when it has nothing to do would refuse a program that comes at that moment.
        cls.server("--persistent")
        cls.addClassCleanup(cls.server, "--kill")

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
        answer = self.folder / "answer"
        done = run_wine(env, answer, None, self.folder / program.name, *arguments)
        self.assertEqual(done.returncode, 0, answer.read_text())
        return answer.read_text().splitlines()

    def probe(self, adapters=(CARD, OTHER, SOFTWARE), counters=None, readings=1, off=0,
              deadline_ms=20000, then=(), **more):
        """`then`: variables that change between the readings and as many again."""
        if counters is None:
            counters = [*adapter_counters(), *process_counters()]
        taken, *sources = self.run_under_wine(PROBE, str(readings), hex(off), str(deadline_ms), *then,
                                                adapters=adapters, counters=counters, **more)
        self.sources = {line.split(" ", 4)[0]: line.split(" ", 4)[1:] for line in sources}
        self.taken = json.loads(taken)
        return self.taken

    def device(self, name):
        found = [d for d in self.taken["devices"] if d["name"] == name]
        self.assertEqual(len(found), 1, self.taken["devices"])
        return found[0]

    def pool(self, device, kind):
        found = [p for p in self.taken["pools"]
                 if p["device_index"] == device["index"] and p["kind"] == kind]
        return found[0] if found else None

    def rows(self, device):
        return {u["pid"]: u for u in self.taken["usages"] if u["device_index"] == device["index"]}

    def reasons(self, backend, subject):
        return [d for d in self.taken["diagnostics"]
                if d["backend"] == backend and d["subject"] == subject]


def main(suite):
    if shutil.which("wine") is None or not PREFIX.is_dir():
        print(f"skipped: {suite}: there is no Wine, or no prefix of it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
