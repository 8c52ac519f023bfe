# SPDX-License-Identifier: MIT OR Apache-2.0
"""10,000 cycles with handles dropped in any order do not increase the memory in use."""
import gc
import threading
import unittest

import hypomnesis
from hypomnesis import Backend, Collect
from support import Case, read_resident_bytes, run_suite

CYCLES = 10000
ROUND = 1000
GROWTH = 1 << 20
ALL = Collect.MEMORY | Collect.SYSTEM | Collect.POOLS | Collect.PROCESSES | Collect.TELEMETRY


class Ring:
    """A cycle of references, which only the garbage collector frees."""

    def __init__(self, *members):
        self.members = members
        self.ring = self


class Stress(Case):
    def measure_growth(self, cycle):
        for i in range(ROUND):
            cycle(i)
        gc.collect()
        before = read_resident_bytes()
        for i in range(CYCLES):
            cycle(i)
        gc.collect()
        return read_resident_bytes() - before

    def test_handles_dropped_in_any_order_leak_no_memory(self):
        def cycle(i):
            context = self.bare_context("workstation")
            snapshot = context.snapshot(ALL)
            other = context.snapshot(Collect.MEMORY)
            match i % 5:
                case 0:
                    del context
                    snapshot.json()
                case 1:
                    context.close()
                    other.close()
                case 2:
                    Ring(context, snapshot, other)
                case 3:
                    snapshot.close()
                    context.scan()
                case 4:
                    del snapshot, other
        self.assertLess(self.measure_growth(cycle), GROWTH)

    def bare_context(self, name):
        return hypomnesis.Context(paths={hypomnesis.Place.SIMULATION: self.machine(name)})

    def test_failures_leak_no_memory(self):
        context = self.context("workstation")
        snapshot = context.snapshot()

        def cycle(i):
            for call in (lambda: context.device(9), lambda: context.find_device("no:key"),
                         lambda: snapshot.device_line(7), lambda: hypomnesis.Context(1 << 30),
                         lambda: context.usage(0, 77)):
                try:
                    call()
                except hypomnesis.Error:
                    continue
                raise AssertionError("it did not fail")
        self.assertLess(self.measure_growth(cycle), GROWTH)

    def test_snapshots_leak_no_memory(self):
        context = self.context("workstation")

        def cycle(i):
            context.snapshot(ALL).json()
        self.assertLess(self.measure_growth(cycle), GROWTH)

    def test_direct_readings_leak_no_memory(self):
        context = self.context("workstation")
        readings = (lambda: context.device(0), lambda: context.pool(0), lambda: context.telemetry(0),
                    lambda: context.usage(0, 48211), lambda: context.own_usage(0),
                    lambda: context.own_memory(), lambda: context.process_memory(1842),
                    lambda: context.system_memory(), lambda: context.backend(Backend.SIMULATED),
                    lambda: context.scan(), lambda: context.find_device("pci:01:00.0"))

        def cycle(i):
            for reading in readings:
                for _ in range(4):
                    reading()
        self.assertLess(self.measure_growth(cycle), GROWTH)

    def test_threads_end_with_their_contexts(self):
        def cycle(i):
            self.bare_context("workstation").pool(0)
        before = count_threads()
        for i in range(200):
            cycle(i)
        self.assertLess(count_threads(), before + 20)
        self.assertLessEqual(threading.active_count(), 2)  # a helper thread


def count_threads():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))


if __name__ == "__main__":
    run_suite()
