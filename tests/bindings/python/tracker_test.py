# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trackers."""
import os
import threading

import hypomnesis
from support import Case, run_suite


CARD = {"devices": [{"name": "Card", "pools": [{"kind": "vram", "total": "16GiB", "used": "3GiB"}]}]}


class Tracker(Case):
    def test_a_tracker_enforces_its_limit(self):
        tracker = hypomnesis.Tracker(1000)
        tracker.allocate(900)
        with self.assertRaises(hypomnesis.LimitError) as caught:
            tracker.allocate(200)
        self.assertIn("would exceed limit of 1000 bytes (current: 900 bytes)", str(caught.exception))
        self.assertTrue(tracker.would_fit(100))
        self.assertFalse(tracker.would_fit(101))
        tracker.release(400)
        with self.assertRaises(hypomnesis.RangeError):
            tracker.release(501)
        info = tracker.info()
        self.assertEqual((info.limit_bytes, info.allocated_bytes, info.peak_bytes), (1000, 500, 900))
        self.assertEqual(info.refused_count, 1)
        self.assertIsNone(info.device_index)
        tracker.set_limit(None)
        self.assertIsNone(tracker.info().limit_bytes)
        tracker.reset()
        self.assertEqual(tracker.info().peak_bytes, 0)

    def test_a_limit_of_zero_allows_nothing(self):
        other = hypomnesis.Tracker()
        other.set_limit(0)
        for tracker in (hypomnesis.Tracker(0), other):
            self.assertEqual(tracker.info().limit_bytes, 0)
            with self.assertRaises(hypomnesis.LimitError):
                tracker.allocate(1)

    def test_a_tag_counts_its_own_bytes(self):
        with hypomnesis.Tracker() as tracker:
            weights = tracker.tag("weights")
            self.assertEqual(tracker.tag("weights"), weights)
            tracker.allocate(300, weights)
            tracker.release(100, weights)
            self.assertEqual(tracker.read_tag(weights),
                             hypomnesis.Tag(0, weights, 200, 300, "weights"))
            with self.assertRaises(hypomnesis.RangeError):
                tracker.read_tag(2)
        self.assertTrue(tracker.closed)
        with self.assertRaises(hypomnesis.ClosedError):
            tracker.allocate(1)

    def test_a_linked_tracker_reads_its_device(self):
        context = self.context(CARD)
        tracker = context.tracker(0)
        pool = context.pool(0)
        usable = pool.usable_bytes if pool.usable_bytes is not None else pool.free_bytes
        context.close()
        self.assertEqual(tracker.info().device_index, 0)
        self.assertTrue(tracker.would_fit(usable))
        self.assertFalse(tracker.would_fit(usable + 1))

    def test_a_tracker_of_an_unknown_device_raises(self):
        with self.assertRaises(hypomnesis.NoDeviceError):
            self.context(CARD).tracker(99).would_fit(1)

    def test_concurrent_allocations_stay_within_the_limit(self):
        tracker = hypomnesis.Tracker(1000)

        def allocate_and_release():
            for _ in range(2000):
                try:
                    tracker.allocate(300)
                except hypomnesis.LimitError:
                    continue
                tracker.release(300)

        threads = [threading.Thread(target=allocate_and_release) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        info = tracker.info()
        self.assertEqual(info.allocated_bytes, 0)
        self.assertLessEqual(info.peak_bytes, 900)

    def test_a_forked_child_counts_separately(self):
        tracker = hypomnesis.Tracker(1000)
        tracker.allocate(100)
        child = os.fork()
        if child == 0:
            tracker.allocate(900)
            os._exit(0 if tracker.info().allocated_bytes == 1000 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(tracker.info().allocated_bytes, 100)


if __name__ == "__main__":
    run_suite()
