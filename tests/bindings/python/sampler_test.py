# SPDX-License-Identifier: MIT OR Apache-2.0
"""Samplers."""
import os
import select
import threading
import time

import hypomnesis
from support import Case, run_suite

GIB = 1 << 30


class Sampler(Case):
    def setUp(self):
        super().setUp()
        pool = {"kind": "vram", "total": "16GiB", "used": "3GiB"}
        self.card_context = self.context({"devices": [{"name": "Card", "pools": [pool]}]})

    def test_a_sampler_returns_snapshots_latest_values_and_peaks(self):
        with self.card_context.sampler() as sampler:
            first = sampler.next(60)
            self.assertEqual(first.info.collect, hypomnesis.Collect.DEVICES | hypomnesis.Collect.POOLS
                             | hypomnesis.Collect.TELEMETRY)
            self.assertEqual(sampler.latest_pool(0).used_bytes, 3 * GIB)
            self.assertEqual(sampler.device_peak(0).used_bytes, 3 * GIB)
            info = sampler.info()
            self.assertEqual((info.state, info.taken_count, info.last_status),
                             (hypomnesis.SamplerState.RUNNING, 1, hypomnesis.Status.OK))
            self.assertRaises(hypomnesis.DeadlineError, sampler.next, 0)
            with self.assertRaises(hypomnesis.NoDeviceError):
                sampler.latest_pool(7)
            with self.assertRaises(hypomnesis.NoProcessError):
                sampler.peak(0, 1)
        self.assertTrue(sampler.closed)
        with self.assertRaises(hypomnesis.ClosedError):
            sampler.info()

    def test_a_sampler_before_its_start_has_no_values_and_does_not_wait(self):
        sampler = self.card_context.sampler()
        self.assertIsNone(sampler.latest_pool(0))
        self.assertIsNone(sampler.latest_telemetry(0))
        self.assertIsNone(sampler.info().last_status)
        for call in (sampler.stop, lambda: sampler.next(60), lambda: next(sampler)):
            with self.assertRaises(hypomnesis.StateError):
                call()
        sampler.close()
        sampler.close()

    def test_iteration_ends_when_the_sampler_is_stopped(self):
        times = []
        with self.card_context.sampler(interval=0.005) as sampler:
            for snapshot in sampler:
                times.append(snapshot.info.monotonic)
                if len(times) == 3:
                    sampler.stop()
        self.assertGreaterEqual(len(times), 3)
        self.assertEqual(times, sorted(times))

    def test_stop_wakes_a_waiting_thread(self):
        with self.card_context.sampler(interval=3600) as sampler:
            sampler.next(60)
            results = []
            waiter = threading.Thread(target=lambda: results.append(sampler.next(60)))
            waiter.start()
            time.sleep(0.02)
            sampler.stop()
            waiter.join(30)
            self.assertEqual(results, [None])

    def test_a_sample_a_timeout_the_end_and_an_error_differ(self):
        sampler = self.card_context.sampler(interval=3600)
        self.assertRaises(hypomnesis.StateError, sampler.next, 60)
        self.assertRaises(hypomnesis.StateError, next, sampler)
        with sampler:
            self.assertIsInstance(sampler.next(60), hypomnesis.Snapshot)
            for timeout in (0, 0.05):
                with self.assertRaisesRegex(TimeoutError, f"^timeout: no snapshot within {timeout} s$") as caught:
                    sampler.next(timeout)
                self.assertIs(type(caught.exception), hypomnesis.DeadlineError)
            self.card_context.cancel()
            self.assertRaises(hypomnesis.CancelledError, sampler.next, 60)
            self.assertRaises(hypomnesis.CancelledError, next, sampler)
            self.card_context.resume()
            sampler.stop()
            self.assertIsNone(sampler.next(60))
            self.assertIsNone(sampler.next(0))
            self.assertEqual(list(sampler), [])

    def test_next_waits_for_its_timeout(self):
        with self.card_context.sampler(interval=3600) as sampler:
            self.assertIsNotNone(sampler.next(60))
            start = time.monotonic()
            self.assertRaises(TimeoutError, sampler.next, 0.45)
            self.assertGreaterEqual(time.monotonic() - start, 0.45)
            for timeout in (-1, -0.5, None, "1"):
                self.assertRaises(hypomnesis.ArgumentError, sampler.next, timeout)

    def test_sampler_options_are_applied(self):
        peaks = self.card_context.sampler(flags=hypomnesis.SamplerFlag.PEAKS_ONLY)
        with peaks, self.assertRaises(hypomnesis.StateError):
            peaks.next(60)
        with self.assertRaises(hypomnesis.RangeError):
            self.card_context.sampler(capacity=65537)
        with self.card_context.sampler(hypomnesis.Collect.POOLS, device_index=0) as sampler:
            self.assertEqual(sampler.next(60).info.collect,
                             hypomnesis.Collect.DEVICES | hypomnesis.Collect.POOLS)

    def test_the_handle_is_ready_when_next_would_not_wait(self):
        with self.card_context.sampler(interval=60) as sampler:
            self.assertTrue(select.select([sampler.handle()], [], [], 60)[0])
            self.assertIsNotNone(sampler.next(hypomnesis.UNLIMITED))
            self.assertFalse(select.select([sampler.handle()], [], [], 0)[0])
            self.assertRaises(TimeoutError, sampler.next, 0)

    def test_snapshot_times_come_from_the_monotonic_clock(self):
        with self.card_context.sampler() as sampler:
            before = hypomnesis.monotonic()
            sampler.next(60)
            self.assertLessEqual(sampler.info().last_monotonic, hypomnesis.monotonic())
            self.assertLess(0, before)

    def test_an_unlimited_or_immediate_interval_is_refused(self):
        for interval in (hypomnesis.UNLIMITED, hypomnesis.IMMEDIATE):
            with self.assertRaises(hypomnesis.RangeError):
                self.card_context.sampler(interval=interval)

    def test_a_sampler_outlives_its_context(self):
        sampler = self.card_context.sampler(interval=0.005)
        sampler.start()
        self.card_context.close()
        for _ in range(3):
            self.assertIsNotNone(sampler.next(60))
        sampler.close()

    def test_a_sampler_in_a_forked_child_raises_forked_error(self):
        with self.card_context.sampler() as sampler:
            sampler.next(60)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    sampler.info()
                except hypomnesis.ForkedError:
                    sampler.close()
                    code = 0 if sampler.closed else 2
                finally:
                    os._exit(code)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    run_suite()
