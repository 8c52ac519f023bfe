# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads: readings release the GIL, one context serves many threads, closing never waits."""
import threading
import time
import unittest

import hypomnesis
from hypomnesis import CancelledError, ClosedError, Collect
from support import Case, run_suite

THREADS = 8
ALL = Collect.SYSTEM | Collect.PROCESSES | Collect.TELEMETRY | Collect.POOLS


def run_together(work, count=THREADS):
    """Runs work(i) in threads; returns the exceptions that they raised."""
    errors = []

    def run(i):
        try:
            work(i)
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return errors


class Threads(Case):
    def make_gated_context(self, gate):
        """Returns a context whose driver hangs until the gate exists."""
        return self.context({"host": "real",
                             "devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": 5}],
                                          "delays": [{"call": "pools", "hang_until": str(gate)}]}]})

    def test_other_threads_run_during_a_reading(self):
        gate = self.folder / "gate"
        context = self.make_gated_context(gate)
        for call in (lambda: context.pool(0), lambda: context.snapshot(Collect.POOLS)):
            gate.unlink(missing_ok=True)
            thread = threading.Thread(target=call)
            thread.start()
            for _ in range(10):
                time.sleep(0.01)
            self.assertTrue(thread.is_alive())
            gate.touch()
            thread.join(60)
            self.assertFalse(thread.is_alive())

    def test_one_context_serves_many_threads(self):
        context = self.context("server-8gpu")
        whole = context.snapshot(ALL)

        def work(i):
            for _ in range(100):
                assert context.pool(i).device_index == i
                snapshot = context.snapshot(ALL)
                assert [d.uuid for d in snapshot.devices] == [d.uuid for d in whole.devices]
                assert len(snapshot.usages) == len(whole.usages)
                assert whole.json().startswith("{")
        self.assertEqual(run_together(work), [])

    def test_threads_can_use_separate_contexts(self):
        def work(i):
            for _ in range(20):
                with self.context({"devices": [{"name": f"GPU of {i}"}]}) as context:
                    assert context.device(0).name == f"GPU of {i}"
        lock = threading.Lock()
        machine = self.machine

        def write_machine(description):
            with lock:
                return machine(description)
        self.machine = write_machine
        self.assertEqual(run_together(work), [])

    def test_cancel_ends_a_reading_until_resume(self):
        gate = self.folder / "gate"
        context = self.make_gated_context(gate)
        self.assertEqual(context.scan().count, 1)
        errors = []
        thread = threading.Thread(target=lambda: errors.extend(run_together(lambda _: context.pool(0), 2)))
        thread.start()
        context.cancel()  # before the gate exists
        thread.join(60)
        self.assertEqual([type(error) for error in errors], [CancelledError] * 2)
        self.assertGreater(context.own_memory().resident_bytes, 0)
        with self.assertRaises(CancelledError):
            context.scan()
        context.resume()
        gate.touch()
        self.assertEqual(context.pool(0).total_bytes, 5)

    def test_close_does_not_wait_for_a_reading(self):
        gate = self.folder / "gate"
        context = self.make_gated_context(gate)
        totals = []
        thread = threading.Thread(target=lambda: totals.append(context.pool(0).total_bytes))
        thread.start()
        time.sleep(1)
        context.close()  # would wait for the gate
        with self.assertRaises(ClosedError):
            context.pool(0)
        self.assertTrue(thread.is_alive())
        gate.touch()
        thread.join(60)
        self.assertEqual(totals, [5])

    def test_close_ends_readings_of_other_threads_with_closed_error(self):
        for _ in range(20):
            context = self.context("workstation")
            snapshot = context.snapshot()

            def work(i):
                if i == 0:
                    context.close()
                    snapshot.close()
                    return
                for _ in range(50):
                    assert context.device(0).index == 0
                    assert snapshot.json()
            errors = run_together(work)
            self.assertTrue(all(isinstance(error, ClosedError) for error in errors), errors)

    def test_the_default_context_serves_all_threads(self):
        def work(_):
            for _ in range(200):
                assert hypomnesis.memory().resident_bytes
        self.assertEqual(run_together(work), [])


if __name__ == "__main__":
    run_suite()
