# SPDX-License-Identifier: MIT OR Apache-2.0
"""Enumerations, flags, PCI numbers and times as a user meets them."""
import dataclasses
import pickle

import hypomnesis
from hypomnesis import Accounting, Collect, MetricId, Note, PoolKind, Status, UsageKind, Vendor
from support import MACHINES, Case, run_suite


class Names(Case):
    def test_values_of_a_record_have_names(self):
        device, = self.context("workstation").snapshot(Collect.POOLS | Collect.PROCESSES).devices
        self.assertIs(device.vendor, Vendor.NVIDIA)
        self.assertIs(device.main_pool.kind, PoolKind.VRAM)
        self.assertIs(device.usages[0].accounting, Accounting.ALLOCATED)
        self.assertIsInstance(device.usages[0].kinds, UsageKind)
        self.assertIn("vendor=Vendor.NVIDIA, ", repr(device))
        self.assertIn("notes=Note(0x0), ", repr(device))

    def test_a_name_is_printed_and_formatted(self):
        self.assertEqual([str(Vendor.NVIDIA), f"{Vendor.NVIDIA}", f"{Vendor.NVIDIA:>8}", repr(Vendor.NVIDIA)],
                         ["NVIDIA", "NVIDIA", "  NVIDIA", "Vendor.NVIDIA"])
        self.assertEqual((int(Vendor.NVIDIA), Vendor.NVIDIA == 0x10DE), (4318, True))
        flags = Note.STALE | Note.PARTIAL
        self.assertEqual([str(flags), f"{flags:>14}", repr(flags), str(Note(0))],
                         ["STALE|PARTIAL", " STALE|PARTIAL", "Note(STALE|PARTIAL)", "0x0"])

    def test_a_number_of_a_newer_library_is_named_unknown(self):
        vendor = Vendor(0xABCD)
        self.assertEqual((vendor.name, repr(vendor), vendor == 0xABCD), ("UNKNOWN_43981", "Vendor.UNKNOWN_43981", True))
        self.assertIsInstance(vendor, Vendor)
        flags = Note(1 << 30 | Note.STALE)
        self.assertEqual(str(flags), "STALE|0x40000000")
        for value in (vendor, Vendor.NVIDIA, flags, Note.STALE | Note.PARTIAL, Note(0)):
            same = pickle.loads(pickle.dumps(value))
            self.assertEqual((same, type(same)), (value, type(value)))
        self.assertEqual(str(hypomnesis.Error("x", status=999).status), "UNKNOWN_999")
        with self.assertRaises(ValueError):
            Vendor("NVIDIA")

    def test_an_error_and_the_metrics_have_names(self):
        with self.assertRaises(hypomnesis.NoDeviceError) as caught:
            self.context("workstation").pool(7)
        self.assertIs(caught.exception.status, Status.NO_DEVICE)
        self.assertIn(MetricId.TEMPERATURE, hypomnesis.metrics())
        self.assertIsInstance(hypomnesis.metrics()[0], MetricId)

    def test_pci_numbers_are_hexadecimal(self):
        device = self.context("workstation").device(0)
        self.assertEqual((str(device.pci_device), f"{device.pci_device}", device.pci_device == 0x2684),
                         ("0x2684", "0x2684", True))
        self.assertIn("pci_device=0x2684, ", repr(device))

    def test_times_are_seconds(self):
        machine = {"devices": [{"telemetry": {"window_ns": 1500000000}, "pools": [{"kind": "vram", "total": 1}],
                                "processes": [{"pid": 7, "used": 1, "busy_ns": 2500000000,
                                               "start_unix_ns": 1760342400000000000}]}]}
        snapshot = self.context(machine).snapshot(Collect.TELEMETRY | Collect.PROCESSES)
        device, = snapshot.devices
        self.assertEqual((device.telemetry.window, device.usages[0].busy, device.usages[0].start_time),
                         (1.5, 2.5, 1760342400.0))
        self.assertLess(abs(hypomnesis.monotonic() - snapshot.info.monotonic), 60)
        for record in (device, device.telemetry, device.usages[0], snapshot.info):
            for field in dataclasses.fields(record):
                self.assertNotRegex(field.name, "_(ns|seconds)$")

    def test_devices_have_telemetry_and_processes_are_listed(self):
        program = ("import hypomnesis as h\n"
                   "device, = h.devices()\n"
                   "print(device.telemetry.power_watts, device.main_pool.kind)\n"
                   "print([(usage.device_index, usage.pid, usage.process_name) for usage in h.processes()])")
        result = self.python("-c", program, HMN_SIMULATION=MACHINES / "workstation.json")
        first, second = result.stdout.splitlines()
        self.assertEqual(first, "371.42 VRAM", result.stderr)
        self.assertEqual(eval(second), [(0, usage.pid, usage.process_name) for usage in
                                        self.context("workstation").snapshot(Collect.PROCESSES).usages])
        self.assertGreater(len(eval(second)), 1)


if __name__ == "__main__":
    run_suite()
