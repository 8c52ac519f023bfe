# SPDX-License-Identifier: MIT OR Apache-2.0
"""Spill detectors."""
import os

import hypomnesis
from hypomnesis import SpillRule, SpillState
from support import Case, run_suite

MIB = 1 << 20


def make_machine(vram, host):
    return {"devices": [
        {"vendor": "amd", "pools": [{"kind": "vram", "total": "16GiB", "used": vram},
                                    {"kind": "host", "total": "32GiB", "used": host}]},
        {"pools": [{"kind": "unified", "total": "16GiB", "used": "1GiB"}]}]}


MACHINE = make_machine("8GiB", "128MiB") | {"changes": [{"at_reading": 3} | make_machine("15GiB", "384MiB"),
                                                        {"at_reading": 4} | make_machine("8GiB", "384MiB")]}


class Spill(Case):
    def setUp(self):
        super().setUp()
        self.card_context = self.context(MACHINE)

    def test_a_spill_has_a_current_state_a_latched_state_and_an_episode(self):
        with self.card_context.spill(0) as spill:
            spill.observe("begin")
            self.assertEqual(spill.info().state, SpillState.MEASURABLE)
            spill.observe("step 1")
            self.assertEqual(spill.info().rules, SpillRule.SHARED)
            spill.observe("step 2")
            info = spill.info()
            self.assertEqual(info.state, SpillState.MEASURABLE | SpillState.EVER)
            self.assertEqual((info.episode_count, info.first_label), (1, "step 1"))
            self.assertEqual((info.baseline_shared_bytes, info.peak_shared_bytes),
                             (128 * MIB, 384 * MIB))
            self.assertIsNone(info.evicted_bytes)
            episode = spill.episode(0)
            self.assertEqual((episode.end_label, episode.duration), ("step 2", 0))
            with self.assertRaises(hypomnesis.RangeError):
                spill.episode(1)
        self.assertTrue(spill.closed)
        with self.assertRaises(hypomnesis.ClosedError):
            spill.info()

    def test_an_unmeasurable_device_reports_why_and_accepts_fed_samples(self):
        spill = self.card_context.spill(1)
        with self.assertRaises(hypomnesis.UnsupportedError):
            spill.observe()
        info = spill.info()
        self.assertEqual(info.status, hypomnesis.Status.UNSUPPORTED)
        self.assertTrue(info.message)
        self.assertIsNone(info.dedicated_bytes)
        spill.feed(0, 0, evicted_bytes=0, label="calm")
        spill.feed(0, 0, evicted_bytes=256 * MIB, label="full")
        self.assertEqual(spill.info().rules, SpillRule.EVICTED)
        self.assertIsNone(spill.episode(0).end_label)

    def test_a_detector_without_a_context_observes_snapshots(self):
        spill = hypomnesis.Spill()
        collect = hypomnesis.Collect.POOLS | hypomnesis.Collect.PROCESSES
        for _ in range(3):
            spill.observe_snapshot(self.card_context.snapshot(collect))
        self.assertEqual((spill.info().observation_count, spill.info().episode_count), (3, 1))
        with self.assertRaises(hypomnesis.EmptyError):
            spill.observe_snapshot(self.card_context.snapshot(hypomnesis.Collect.DEVICES))
        with self.assertRaises(hypomnesis.RangeError):
            hypomnesis.Spill(episode_capacity=65537)

    def test_a_detector_of_a_context_is_refused_in_a_forked_child(self):
        spill, standalone = self.card_context.spill(0), hypomnesis.Spill()
        standalone.feed(1, 2)
        child = os.fork()
        if child == 0:
            try:
                standalone.info()
                spill.info()
            except hypomnesis.ForkedError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    run_suite()
