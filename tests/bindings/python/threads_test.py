# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads: readings let others run, one context serves many, closing never waits."""
import threading
import time
import unittest

import hypomnesis
from hypomnesis import CancelledError, ClosedError, Collect
from support import Case, run_suite

THREADS = 8
ALL = Collect.SYSTEM | Collect.PROCESSES | Collect.TELEMETRY | Collect.POOLS


def together(work, count=THREADS):
    """Runs work(i) in threads; what they raised."""
    raised = []

    def run(i):
        try:
            work(i)
        except Exception as error:
            raised.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return raised


class Threads(Case):
    def until(self, gate):
        """A context whose driver reports the memory once the gate is there."""
        return self.context({"host": "real",
                             "devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": 5}],
                                          "delays": [{"call": "pools", "hang_until": str(gate)}]}]})

    def test_others_run_during_a_reading(self):
        gate = self.folder / "gate"
        context = self.until(gate)
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

    def test_one_context_serves_many(self):
        context = self.context("server-8gpu")
        whole = context.snapshot(ALL)

        def work(i):
            for _ in range(100):
                assert context.pool(i).device_index == i
                snapshot = context.snapshot(ALL)
                assert [d.uuid for d in snapshot.devices] == [d.uuid for d in whole.devices]
                assert len(snapshot.usages) == len(whole.usages)
                assert whole.json().startswith("{")
        self.assertEqual(together(work), [])

    def test_contexts_of_their_own(self):
        def work(i):
            for _ in range(20):
                with self.context({"devices": [{"name": f"GPU of {i}"}]}) as context:
                    assert context.device(0).name == f"GPU of {i}"
        path = threading.Lock()
        machine = self.machine

        def one_at_a_time(description):
            with path:
                return machine(description)
        self.machine = one_at_a_time
        self.assertEqual(together(work), [])

    def test_cancel_ends_a_reading_until_resume(self):
        gate = self.folder / "gate"
        context = self.until(gate)
        self.assertEqual(context.scan().count, 1)
        raised = []
        thread = threading.Thread(target=lambda: raised.extend(together(lambda _: context.pool(0), 2)))
        thread.start()
        context.cancel()  # the gate is never there before
        thread.join(60)
        self.assertEqual([type(error) for error in raised], [CancelledError] * 2)
        self.assertGreater(context.own_memory().resident_bytes, 0)
        with self.assertRaises(CancelledError):
            context.scan()
        context.resume()
        gate.touch()
        self.assertEqual(context.pool(0).total_bytes, 5)

    def test_closing_under_a_reading(self):
        gate = self.folder / "gate"
        context = self.until(gate)
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

    def test_closing_while_many_use_it(self):
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
            raised = together(work)
            self.assertTrue(all(isinstance(error, ClosedError) for error in raised), raised)

    def test_the_own_context_is_for_all(self):
        def work(_):
            for _ in range(200):
                assert hypomnesis.memory().resident_bytes
        self.assertEqual(together(work), [])


if __name__ == "__main__":
    run_suite()
