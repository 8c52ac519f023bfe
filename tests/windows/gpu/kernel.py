# SPDX-License-Identifier: MIT OR Apache-2.0
"""kernel.py PROBE SPILL_PROBE LIBRARY FAKES PREFIX USAGE_PROBE: the graphics kernel (D3DKMT) under Wine, by a gdi32.dll of our
own. Wine gives it to a program that asks for it (gdi32=n); what boots Wine draws with Wine's."""
import pathlib
import shutil
import subprocess
import sys

import machine
from machine import CARD, DXGI, GIB, MIB, NVML, OFF, OTHER, PDH, SMI, Machine

USAGE_PROBE = pathlib.Path(sys.argv[6]).resolve()
TWIN = CARD | {"luid": "0x20000"}
HYBRID_DISCRETE, HYBRID_INTEGRATED = 1 << 4, 1 << 5
RESIDENT = 1
USED = 1


class Kernel(Machine):
    FAKES = ("dxgi.dll", "pdh.dll", "nvml.dll", "gdi32.dll")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(USAGE_PROBE, cls.folder)
        subprocess.run(["wine", "wineboot"], env=cls.environment() | {"WINEDLLOVERRIDES": OFF},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def kernel(self, *rows):
        """Rows of luid, bus, kind, bytes in local and in other memory, trouble."""
        cells = [(luid, bus, 0, 0, kind, local, other, trouble) for luid, bus, kind, local, other, trouble in rows]
        return self.windows_path("gdi32.txt", machine.lines(cells))

    def usage(self, off, kernel, lie="none"):
        said = self.run_under_wine(USAGE_PROBE, hex(off), adapters=(CARD,), counters=[], HMN_FAKE_GDI32=kernel,
                                   HMN_FAKE_LIE=lie)
        status, backend, accounting, present, used, host = (int(word) for word in said[0].split(" "))
        return status, backend, accounting, present, (used, host)

    def test_the_place_on_the_bus_joins_one_of_two_alike(self):
        kernel = self.kernel((CARD["luid"], 7, 0, 0, 0, ""), (TWIN["luid"], 1, 0, 0, 0, ""))
        self.probe(adapters=(CARD, TWIN), HMN_FAKE_GDI32=kernel)
        reported = {(d["os_id"], d["pci_bus_id"], d["backend"]) for d in self.taken["devices"]}
        self.assertEqual(reported, {(0x20000, "0000:01:00.0", "nvml"), (0x103D8, "0000:07:00.0", "dxgi")})

    def test_two_alike_stay_apart_where_the_place_is_not_reported(self):
        for rows in ((), ((CARD["luid"], 1, 0, 0, 0, "untouched"), (TWIN["luid"], 2, 0, 0, 0, "untouched"))):
            self.probe(adapters=(CARD, TWIN), HMN_FAKE_GDI32=self.kernel(*rows))
            reported = {(d["os_id"], d["pci_bus_id"], d["backend"]) for d in self.taken["devices"]}
            self.assertEqual(reported, {(None, "0000:01:00.0", "nvml"), (0x103D8, None, "dxgi"), (0x20000, None, "dxgi")})

    def test_the_forms_of_a_laptops_two(self):
        kernel = self.kernel((CARD["luid"], 1, HYBRID_DISCRETE, 0, 0, ""),
                             (OTHER["luid"], 2, HYBRID_INTEGRATED, 0, 0, ""))
        self.probe(adapters=(CARD, OTHER), off=NVML | SMI, HMN_FAKE_GDI32=kernel)
        self.assertEqual([(d["form"], d["pci_bus_id"]) for d in self.taken["devices"]],
                         [("discrete", "0000:01:00.0"), ("integrated", "0000:02:00.0")])

    def test_what_a_process_uses_where_no_counter_reports(self):
        row = (CARD["luid"], 1, 0, 3 * GIB, 5 * MIB, "")
        for off in (NVML | SMI, NVML | SMI | PDH):
            status, backend, accounting, _, used = self.usage(off, self.kernel(row))
            self.assertEqual((status, backend, accounting, used), (0, DXGI.bit_length() - 1, RESIDENT, (3 * GIB, 5 * MIB)))

    def test_a_call_that_fails_has_no_value(self):
        kernel = self.kernel((CARD["luid"], 1, HYBRID_DISCRETE, 3 * GIB, 5 * MIB, ""))
        for code in ("0xC0000001", "0xC000000D", "0xC0000022", "0xC00002B6"):
            for call in ("D3DKMTOpenAdapterFromLuid", "D3DKMTQueryVideoMemoryInfo"):
                status, _, _, present, used = self.usage(NVML | SMI, kernel, f"{call}={code}")
                self.assertLess(status, 0)
                self.assertEqual((present, used), (0, (0, 0)))
            for call in ("D3DKMTOpenAdapterFromLuid", "D3DKMTQueryAdapterInfo"):
                self.probe(adapters=(CARD,), off=NVML | SMI, HMN_FAKE_GDI32=kernel, HMN_FAKE_LIE=f"{call}={code}")
                card = self.device(CARD["name"])
                self.assertEqual((card["pci_bus_id"], card["form"]), (None, "unknown"))

    def test_a_huge_value_is_no_value(self):
        kernel = self.kernel((CARD["luid"], 1, 0, 1 << 60, 5 * MIB, ""))
        status, _, _, present, used = self.usage(NVML | SMI, kernel)
        self.assertEqual((status, present & USED, used), (0, 0, (0, 5 * MIB)))

    def test_a_success_that_fills_nothing_in_is_no_value(self):
        row = (CARD["luid"], 1, 0, 3 * GIB, 5 * MIB, "untouched")
        status, _, _, present, used = self.usage(NVML | SMI, self.kernel(row))
        self.assertLess(status, 0)
        self.assertEqual((present, used), (0, (0, 0)))


if __name__ == "__main__":
    machine.main("windows.kernel")
