# SPDX-License-Identifier: MIT OR Apache-2.0
"""Snapshots: whole copies, absent values, exact numbers, texts, lifetime."""
import copy
import json
import pickle
import unittest

import hypomnesis
from hypomnesis import (Backend, ClosedError, Collect, DeviceForm, Format, Note, PoolField, Scope,
                        Snapshot, Status, TelemetryField, Throttle, UsageKind)
from support import Case, run_suite

MIB = 1 << 20
ALL = (Collect.MEMORY | Collect.SYSTEM | Collect.DEVICES | Collect.POOLS | Collect.SELF |
       Collect.PROCESSES | Collect.TELEMETRY)
WIDE = (1 << 53) + 1, (1 << 64) - 1
NAMES = ["Grafik-Ä", "显卡 🎛", "\u202eGPU", "tab\there", "quote\"back\\slash"]


class Copies(Case):
    def test_a_snapshot_contains_the_whole_machine(self):
        snapshot = self.context("server-8gpu").snapshot(ALL)
        self.assertIsInstance(snapshot, Snapshot)
        self.assertEqual(len(snapshot.devices), 8)
        self.assertEqual(snapshot.info.device_count, 8)
        self.assertEqual(snapshot.info.collect, ALL)
        self.assertEqual(snapshot.memory.resident_bytes, 12 * MIB)
        self.assertEqual(snapshot.system.limit_bytes, 512 << 30)
        first = snapshot.devices[0]
        self.assertEqual(first.main_pool.used_bytes, 76210 * MIB)
        self.assertEqual(first.main_pool.unattributed_bytes, 4 * MIB)
        self.assertEqual(first.telemetry.power_watts, 682.31)
        self.assertEqual(first.telemetry.throttle, 0)
        self.assertEqual(first.own_usage.used_bytes, 0)
        self.assertEqual([usage.process_name for usage in first.usages], ["torchrun_worker"])
        self.assertEqual(first.usages[0].kinds, UsageKind.COMPUTE)
        self.assertEqual(tuple(p for d in snapshot.devices for p in d.pools), snapshot.pools)
        self.assertEqual(tuple(u for d in snapshot.devices for u in d.usages), snapshot.usages)

    def test_device_and_pid_filters_limit_a_snapshot(self):
        context = self.context("server-8gpu")
        snapshot = context.snapshot(ALL, device_index=2)
        self.assertEqual([device.index for device in snapshot.devices], [2])
        self.assertEqual({pool.device_index for pool in snapshot.pools}, {2})
        snapshot = context.snapshot(Collect.PROCESSES, pid=802117)
        self.assertEqual({usage.pid for usage in snapshot.usages}, {802117})
        self.assertEqual(len(snapshot.devices), 8)
        self.assertEqual(context.snapshot(device_index=0).devices[0].index, 0)

    def test_partitions_have_a_parent_and_an_instance(self):
        snapshot = self.context("mig-a100").snapshot()
        parts = [d for d in snapshot.devices if d.parent_index is not None]
        self.assertTrue(parts)
        self.assertEqual({part.parent_index for part in parts}, {0})
        self.assertIsNone(snapshot.devices[0].gpu_instance)
        self.assertTrue(all(part.gpu_instance is not None for part in parts))

    def test_parts_that_were_not_collected_are_absent(self):
        snapshot = self.context("workstation").snapshot(Collect.DEVICES)
        self.assertIsNone(snapshot.memory)
        self.assertIsNone(snapshot.system)
        self.assertIsNone(snapshot.devices[0].telemetry)
        self.assertIsNone(snapshot.devices[0].own_usage)
        self.assertIsNone(snapshot.devices[0].main_pool)
        self.assertEqual((snapshot.pools, snapshot.usages), ((), ()))

    def test_absent_fields_are_none(self):
        machine = {"devices": [{"pools": [{"kind": "vram", "total": 0}], "telemetry": {"fan_rpm": 0},
                                "processes": [{"pid": 5, "kinds": []}]}]}
        device, = self.context(machine).snapshot(ALL).devices
        self.assertEqual((device.name, device.uuid, device.pci_bus_id), (None, None, None))
        self.assertEqual((device.driver_index, device.cuda_version_major), (None, None))
        self.assertEqual((device.main_pool.total_bytes, device.main_pool.used_bytes), (0, None))
        self.assertEqual((device.telemetry.fan_rpm, device.telemetry.power_watts), (0, None))
        usage, = device.usages
        self.assertEqual((usage.used_bytes, usage.process_name, usage.uid), (None, None, None))

    def test_numbers_beyond_53_bits_are_exact(self):
        for wide, amount in zip(WIDE, ((1 << 48) - 1, 1 << 48)):
            machine = {"devices": [{
                "os_id": wide, "pools": [{"kind": "vram", "total": amount, "used": 0, "budget": amount}],
                "telemetry": {"pcie_rx_bytes": wide, "pcie_tx_bytes": wide},
                "processes": [{"pid": 4294967295, "used": amount}]}],
                "host": {"self": {"resident": wide}, "system": {"total": amount}}}
            context = self.context(machine)
            snapshot = context.snapshot(ALL)
            device, = snapshot.devices
            values = (device.os_id, device.telemetry.pcie_rx_bytes, device.telemetry.pcie_tx_bytes,
                      snapshot.memory.resident_bytes,
                      context.own_memory().resident_bytes)
            self.assertEqual(values, (wide,) * len(values))
            amounts = (device.main_pool.total_bytes, device.main_pool.budget_bytes,
                       device.usages[0].used_bytes, snapshot.system.total_bytes,
                       context.pool(0).total_bytes)
            self.assertEqual(amounts, (amount,) * len(amounts))
            self.assertEqual(device.usages[0].pid, 4294967295)
            self.assertEqual(json.loads(snapshot.json())["pools"][0]["total_bytes"], amount)

    def test_names_beyond_ascii_are_returned_unchanged(self):
        machine = {"devices": [{"name": name, "uuid": f"GPU-{i}",
                                "processes": [{"pid": 7, "name": name, "used": 1}]}
                               for i, name in enumerate(NAMES)]}
        snapshot = self.context(machine).snapshot(ALL)
        self.assertEqual([device.name for device in snapshot.devices], NAMES)
        self.assertEqual([usage.process_name for usage in snapshot.usages], NAMES)

    def test_a_long_name_is_cut_with_a_note(self):
        snapshot = self.context({"devices": [{"name": "é" * 200}]}).snapshot()
        self.assertEqual(snapshot.devices[0].name, "é" * 127)
        self.assertTrue(Note(snapshot.devices[0].notes) & Note.TRUNCATED)

    def test_a_refused_reading_has_a_diagnostic(self):
        snapshot = self.context("failing").snapshot(Collect.TELEMETRY)
        diagnostics = [d for d in snapshot.diagnostics if d.status == Status.PERMISSION]
        self.assertEqual(len(diagnostics), 1)
        self.assertEqual((diagnostics[0].device_index, diagnostics[0].native_code), (0, 4))
        self.assertEqual(diagnostics[0].field, TelemetryField.POWER)
        self.assertEqual(diagnostics[0].subject, Collect.TELEMETRY)
        self.assertIsNone(diagnostics[0].pid)
        self.assertIn("run as root", diagnostics[0].message)
        self.assertTrue(snapshot.info.notes & Note.PARTIAL)


class Texts(Case):
    def setUp(self):
        super().setUp()
        def make_machine(ram, used):
            return {"host": {"self": {"resident": ram * MIB}},
                    "devices": [{"name": "GPU Ä", "pools": [
                        {"kind": "vram", "total": 16384 * MIB, "used": 3100 * MIB}],
                        "processes": [{"pid": "self", "used": used * MIB}]}]}

        context = self.context(make_machine(100, 50) | {"changes": [{"at_reading": 2} | make_machine(200, 550)]})
        self.before, self.after = context.snapshot(), context.snapshot()

    def test_a_device_line_has_the_requested_format(self):
        self.assertEqual(self.before.device_line(0),
                         "  GPU 0: free 13284 MiB / 16384 MiB [GPU Ä]\n")
        self.assertEqual(self.before.device_line(0, Format.TOTAL),
                         "  GPU 0: total 16384 MiB [GPU Ä]\n")
        self.assertEqual(self.before.device_line(0, Format.USED), "  GPU 0: used 3100 MiB [GPU Ä]\n")
        with self.assertRaises(hypomnesis.RangeError):
            self.before.device_line(0, 9)
        blank = self.context({"devices": [{"name": "GPU"}]}).snapshot()
        self.assertIsNone(blank.device_line(0))

    def test_a_delta_has_values_and_lines(self):
        delta = self.after.delta_since(self.before, 0)
        self.assertEqual((delta.memory_bytes, delta.device_bytes), (100 * MIB, 500 * MIB))
        self.assertEqual((delta.scope, delta.device_index), (Scope.PROCESS, 0))
        self.assertIsNone(delta.energy_joules)
        self.assertEqual(self.after.delta_line(self.before, 0, "é"),
                         "  é: RAM +100 MiB  |  VRAM +500 MiB [per-process]\n")
        lines = self.after.before_after_lines(self.before, 0, "work")
        self.assertEqual(lines.count("\n"), 2)
        with self.assertRaises(hypomnesis.ArgumentError):
            self.before.delta_since(self.after, 0)

    def test_a_delta_can_be_negative_or_absent(self):
        machine = {"host": {"self": {"resident": 9 * MIB}},
                   "changes": [{"at_reading": 2, "host": {"self": {"resident": 2 * MIB}}}],
                   "devices": [{"name": "GPU"}]}
        context = self.context(machine)
        before, after = context.snapshot(Collect.MEMORY | Collect.DEVICES), context.snapshot(
            Collect.MEMORY | Collect.DEVICES)
        self.assertEqual(after.delta_since(before, 0).memory_bytes, -7 * MIB)
        device_snapshot = context.snapshot(Collect.DEVICES)
        self.assertIsNone(device_snapshot.delta_line(before, 0, "x"))

    def test_json_contains_the_device_name(self):
        document = json.loads(self.before.json())
        self.assertEqual(document["devices"][0]["name"], "GPU Ä")

    def test_calls_on_a_closed_snapshot_raise_closed_error(self):
        self.before.close()
        self.before.close()
        self.assertTrue(self.before.closed)
        for call in (self.before.json, lambda: self.before.device_line(0), self.before.__enter__,
                     lambda: self.before.pool(0), lambda: self.before.reason(0, Collect.POOLS),
                     lambda: self.after.delta_since(self.before, 0),
                     lambda: self.before.delta_line(self.after, 0, "x"),
                     lambda: self.after.before_after_lines(self.before, 0, "x")):
            with self.assertRaisesRegex(ClosedError, "this snapshot is closed"):
                call()
        self.assertEqual(self.before.devices[0].name, "GPU Ä")

    def test_a_snapshot_outlives_its_context(self):
        with self.context("workstation") as context:
            snapshot = context.snapshot()
        self.assertIn("RTX 4090", snapshot.json())

    def test_records_can_be_pickled_and_copied(self):
        for device in self.before.devices:
            self.assertEqual(pickle.loads(pickle.dumps(device)), device)
            self.assertEqual(copy.deepcopy(device), device)


if __name__ == "__main__":
    run_suite()
