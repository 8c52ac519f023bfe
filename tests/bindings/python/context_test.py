# SPDX-License-Identifier: MIT OR Apache-2.0
"""Contexts: options, paths, lifetime, direct readings."""
import dataclasses
import os
import pathlib
import unittest
from datetime import timedelta

import hypomnesis
from hypomnesis import (Backend, BackendInfo, ClosedError, Context, ContextFlag, Device, DeviceClass, Place, Pool,
                        PoolKind, ProcessMemory, ProcessMemoryField, State, SystemMemory, Telemetry,
                        TelemetryField, Usage, Vendor)
from support import MACHINES, Case, run_suite

MIB = 1 << 20


class Contexts(Case):
    def test_direct_readings_return_records(self):
        context = self.context("workstation")
        self.assertEqual(context.scan().count, 1)
        self.assertEqual(context.find_device("pci:01:00.0"), 0)
        device = context.device(0)
        self.assertIsInstance(device, Device)
        self.assertEqual((device.name, device.vendor, device.pci_bus_id),
                         ("NVIDIA GeForce RTX 4090", Vendor.NVIDIA, "0000:01:00.0"))
        self.assertEqual([other.uuid for other in context.devices()], [device.uuid])
        self.assertGreater(device.age, 0)
        pool = context.pool(0)
        self.assertIsInstance(pool, Pool)
        self.assertEqual((pool.kind, pool.total_bytes, pool.used_bytes, pool.reserved_bytes),
                         (PoolKind.VRAM, 24564 * MIB, 13911 * MIB, 498 * MIB))
        self.assertIs(pool.is_main, True)
        telemetry = context.telemetry(0, TelemetryField.POWER | TelemetryField.GPU_BUSY)
        self.assertIsInstance(telemetry, Telemetry)
        self.assertEqual((telemetry.power_watts, telemetry.gpu_busy_percent), (371.42, 97.0))
        usage = context.usage(0, 48211)
        self.assertIsInstance(usage, Usage)
        self.assertEqual((usage.pid, usage.used_bytes), (48211, 13056 * MIB))
        self.assertEqual(context.own_usage(0).used_bytes, 0)

    def test_readings_of_a_simulated_host_return_records(self):
        context = self.context("workstation")
        memory = context.own_memory()
        self.assertIsInstance(memory, ProcessMemory)
        self.assertEqual((memory.pid, memory.resident_bytes), (os.getpid(), 11 * MIB + MIB // 2))
        self.assertIsNone(memory.swap_bytes)
        self.assertEqual(context.process_memory(1842).resident_bytes, 148 * MIB)
        system = context.system_memory()
        self.assertIsInstance(system, SystemMemory)
        self.assertEqual(system.available_bytes, 41 * 1024 * MIB + 256 * MIB)
        self.assertIsNone(system.limit_bytes)

    def test_the_real_host_reports_resident_memory_and_its_peak(self):
        with Context() as context:
            fields = ProcessMemoryField.RESIDENT | ProcessMemoryField.PEAK_RESIDENT
            memory = context.own_memory(fields)
        self.assertEqual(memory.backend, Backend.OS)
        self.assertGreater(memory.resident_bytes, MIB)
        self.assertGreaterEqual(memory.peak_resident_bytes, memory.resident_bytes)

    def test_a_backend_reports_its_state_and_version(self):
        info = self.context("workstation").backend(Backend.SIMULATED)
        self.assertIsInstance(info, BackendInfo)
        self.assertEqual((info.state, info.version), (State.READY, "570.133.07"))
        with Context(backends_off=1 << Backend.NVML) as context:
            self.assertEqual(context.backend(Backend.NVML).state, State.OFF)

    def test_other_device_classes_are_listed_only_if_requested(self):
        paths = {Place.SIMULATION: pathlib.Path(__file__).parent.parent / "machines" / "classes.json"}
        with Context(paths=paths) as context:
            self.assertEqual([d.device_class for d in context.devices()], [DeviceClass.GPU])
        with Context(device_classes=1 << DeviceClass.NPU, paths=paths) as context:
            self.assertEqual([d.device_class for d in context.devices()], [DeviceClass.NPU])

    def test_a_path_can_be_str_bytes_or_a_path_object(self):
        path = MACHINES / "apu.json"
        for value in (path, str(path), os.fsencode(path)):
            with Context() as context:
                context.set_path(Place.SIMULATION, value)
                self.assertEqual(context.scan().count, 1)

    def test_a_path_need_not_be_valid_utf8(self):
        path = os.fsencode(self.folder) + b"/\xff.json"
        with open(path, "wb") as file:
            file.write(pathlib.Path(MACHINES / "apu.json").read_bytes())
        with Context(paths={Place.SIMULATION: os.fsdecode(path)}) as context:
            self.assertEqual(context.scan().count, 1)

    def test_a_path_can_be_reset_to_its_default(self):
        with Context(paths={Place.SIMULATION: "/nowhere.json"}) as context:
            context.set_path(Place.SIMULATION, None)
            self.assertNotEqual(context.own_memory().backend, Backend.SIMULATED)

    def test_the_environment_is_read_only_with_its_flag(self):
        script = ("import hypomnesis as h; c = h.Context(h.ContextFlag(int(__import__('sys').argv[1])));"
                  "print(c.backend(h.Backend.SIMULATED).state == h.State.READY)")
        for flag, expected in ((ContextFlag.ENVIRONMENT, "True"), (0, "False")):
            result = self.python("-c", script, int(flag), HMN_SIMULATION=MACHINES / "apu.json")
            self.assertEqual(result.stdout.strip(), expected, result.stderr)

    def test_calls_on_a_closed_context_raise_closed_error(self):
        context = self.context("workstation")
        context.close()
        context.close()
        self.assertTrue(context.closed)
        for call in (context.scan, context.own_memory, context.snapshot,
                     context.system_memory, lambda: context.pool(0), context.__enter__,
                     lambda: context.set_path(Place.PROC, "/proc")):
            with self.assertRaisesRegex(ClosedError, "this context is closed"):
                call()

    def test_with_closes_the_context(self):
        with self.context("workstation") as context:
            self.assertFalse(context.closed)
        self.assertTrue(context.closed)

    def test_invalid_context_options_raise(self):
        with self.assertRaises(hypomnesis.ArgumentError):
            Context(paths={Place.PROC: "relative"})
        for deadline in (-1, -1e-9, timedelta(seconds=-1), float("nan"), "1", None):
            with self.assertRaisesRegex(hypomnesis.ArgumentError, "^deadline: "):
                Context(deadline=deadline)

    def test_a_duration_is_seconds_or_a_timedelta(self):
        for duration in (0.0001, 1, timedelta(microseconds=100), timedelta.max, 1e300, hypomnesis.UNLIMITED,
                         hypomnesis.IMMEDIATE):
            Context(deadline=duration, stale=duration).close()
        for duration in (99e-6, timedelta(microseconds=99), 2e-9):
            with self.assertRaisesRegex(hypomnesis.RangeError, "stale: [0-9]+ is less than 0.1 ms"):
                Context(stale=duration)
        with self.context("workstation", max_age=timedelta(days=1)) as context:
            self.assertGreater(context.pool(0).total_bytes, 0)

    def test_records_are_frozen_and_compare_by_value(self):
        context = self.context("workstation")
        device, same = (dataclasses.replace(context.device(0), age=0) for _ in range(2))
        self.assertEqual(device, same)
        self.assertEqual(hash(device), hash(same))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            device.name = "other"
        with self.assertRaises((AttributeError, TypeError)):
            device.colour = "red"
        self.assertEqual(dataclasses.replace(device, name="other").name, "other")
        self.assertEqual(dataclasses.asdict(device)["uuid"], device.uuid)


class Default(Case):
    def test_the_process_has_one_default_context(self):
        self.assertIs(hypomnesis.default_context(), hypomnesis.default_context())
        self.assertEqual(hypomnesis.memory().pid, os.getpid())
        self.assertGreater(hypomnesis.system_memory().total_bytes, MIB)
        hypomnesis.default_context().close()
        self.assertGreater(hypomnesis.memory().resident_bytes, MIB)

    def test_the_default_context_reads_the_environment(self):
        result = self.python("-c", "import hypomnesis as h; print([d.main_pool.kind for d in h.devices()],"
                             "h.snapshot(pid=7).info.usage_count)",
                             HMN_SIMULATION=MACHINES / "unified-gb10.json")
        self.assertEqual(result.stdout.strip(), "[PoolKind.UNIFIED] 0", result.stderr)

    def test_the_default_context_names_a_wrong_environment_variable(self):
        result = self.python("-c", "import hypomnesis as h\ntry: h.memory()\n"
                             "except h.ArgumentError as e: print(e)", HMN_SIMULATION="relative.json")
        self.assertIn("HMN_SIMULATION", result.stdout, result.stderr)


if __name__ == "__main__":
    run_suite()
