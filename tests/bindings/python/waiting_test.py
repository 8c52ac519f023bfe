# SPDX-License-Identifier: MIT OR Apache-2.0
"""Waiting: Ctrl-C ends every wait soon, coroutines wait without blocking their loop, and a cancelled wait ends alone."""
import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import hypomnesis
from hypomnesis import Collect
from support import Case, run_suite

POOLS = [{"kind": "vram", "total": "16GiB", "used": "3GiB"}]
CALM = {"devices": [{"name": "Card", "pools": POOLS, "telemetry": {"power_watts": 50}}]}
CTRL_C_S = 0.25
# Sends itself SIGINT after a moment, and prints how long the wait went on.
INTERRUPTED_PROGRAM = """
import os, signal, sys, threading, time
import hypomnesis
from hypomnesis import Collect, Context, ContextFlag, Place, UNLIMITED
context = Context(deadline=UNLIMITED, open_deadline=UNLIMITED, paths={Place.SIMULATION: sys.argv[1]})
context.scan()
sampler, spill, tracker = context.sampler(interval=3600), context.spill(0), context.tracker(0, 1 << 40)
sampler.start()
def interrupt():
    global sent
    time.sleep(0.1)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
reading = eval(f"lambda: {sys.argv[2]}")
threading.Thread(target=interrupt).start()
try:
    reading()
except KeyboardInterrupt:
    print(time.monotonic() - sent)
"""


def hanging(call):
    return {"host": {"self": {"resident": "5MiB"}},
            "devices": [{"name": "Card", "pools": POOLS, "delays": [{"call": call, "hang": "forever"}],
                         "metrics": [{"metric": "temperature", "instance": "core", "value": 66}],
                         "telemetry": {"power_watts": 50}, "processes": [{"pid": 7, "used": 1}]}]}


class CtrlC(Case):
    def test_ctrl_c_ends_each_reading_beside_a_driver_that_hangs(self):
        for call, reading in (("pools", "context.pool(0)"), ("telemetry", "context.telemetry(0)"),
                              ("process", "context.usage(0, 7)"), ("pools", "context.snapshot(Collect.POOLS)"),
                              ("pools", "sampler.next(UNLIMITED)"), ("pools", "sampler.next(60)"),
                              ("pools", "next(sampler)"), ("pools", "list(sampler)"),
                              ("processes", "spill.observe()"), ("pools", "tracker.would_fit(1)")):
            with self.subTest(reading):
                result = self.python("-W", "error", "-c", INTERRUPTED_PROGRAM, self.machine(hanging(call)), reading)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertLess(float(result.stdout), CTRL_C_S)

    def test_other_readings_work_after_an_interrupted_one(self):
        context = self.context(hanging("telemetry"), deadline=hypomnesis.UNLIMITED)
        context.scan()
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, signal.default_int_handler))
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            self.assertRaises(KeyboardInterrupt, context.telemetry, 0)
        self.assertEqual(context.own_memory().resident_bytes, 5 << 20)

    def test_an_error_of_a_reading_is_raised_in_the_caller(self):
        context = self.context(CALM)
        for _ in range(3):
            self.assertRaises(hypomnesis.NoDeviceError, context.pool, 9)
        self.assertEqual(context.pool(0).used_bytes, 3 << 30)

    def count_threads(self, flags):
        program = ("import sys, threading\nfrom hypomnesis import Context, ContextFlag, Place\n"
                   f"context = Context({flags}, paths={{Place.SIMULATION: sys.argv[1]}})\n"
                   "for _ in range(20): context.pool(0)\n"
                   "print(threading.active_count())")
        result = self.python("-c", program, self.machine(CALM))
        self.assertEqual(result.stderr, "")
        return int(result.stdout)

    def test_readings_share_one_helper_thread(self):
        self.assertEqual(self.count_threads(0), 2)

    def test_a_context_without_threads_starts_none(self):
        self.assertEqual(self.count_threads("ContextFlag.NO_THREADS"), 1)


class Asynchronous(Case, unittest.IsolatedAsyncioTestCase):
    async def test_a_sampler_is_an_asynchronous_iterator_that_ends_with_it(self):
        times = []
        with self.context(CALM).sampler(interval=0.005) as sampler:
            async for snapshot in sampler:
                times.append(snapshot.info.monotonic)
                if len(times) == 3:
                    sampler.stop()
        self.assertGreaterEqual(len(times), 3)
        self.assertEqual(times, sorted(times))

    async def test_two_tasks_on_one_sampler_are_both_served(self):
        counts = [0, 0]

        async def count(task):
            async for _ in sampler:
                counts[task] += 1
                if sum(counts) >= 60:
                    sampler.stop()

        with self.context(CALM).sampler(interval=0.005) as sampler:
            await asyncio.wait_for(asyncio.gather(count(0), count(1)), 60)
        self.assertGreaterEqual(min(counts), 20, counts)

    async def test_two_loops_on_one_sampler_are_both_served(self):
        results = []

        def wait_in_another_loop():
            async def take():
                return await anext(sampler)
            results.append(asyncio.run(take()))

        with self.context(CALM).sampler(interval=0.05) as sampler:
            thread = threading.Thread(target=wait_in_another_loop)
            thread.start()
            own = await asyncio.wait_for(anext(sampler), 60)
            await asyncio.to_thread(thread.join, 60)
        self.assertNotEqual(own.info.monotonic, results[0].info.monotonic)

    async def test_a_timeout_ends_only_the_wait_of_its_task(self):
        with self.context(CALM).sampler(interval=3600) as sampler:
            await anext(sampler)
            other = asyncio.create_task(anext(sampler))
            await asyncio.sleep(0)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(anext(sampler), 0.05)
            other.cancel()
            await asyncio.sleep(0)
            third = asyncio.create_task(anext(sampler))
            await asyncio.sleep(0.05)
            self.assertFalse(third.done())
            sampler.stop()
            with self.assertRaises(StopAsyncIteration):
                await asyncio.wait_for(asyncio.shield(third), 60)

    async def test_a_cancelled_wait_loses_no_snapshot(self):
        with self.context(CALM).sampler(interval=0.002, capacity=10000) as sampler:
            count = 0
            for delay in [0, 0.001, 0.002, 0.003] * 20:
                task = asyncio.create_task(anext(sampler))
                await asyncio.sleep(delay)
                if not task.cancel():
                    count += 1
                    task.result()
            sampler.stop()
            async for _ in sampler:
                count += 1
            info = sampler.info()
        self.assertEqual(info.taken_count, count + info.dropped_count)

    async def test_a_cancelled_context_and_a_closed_sampler_end_the_waits(self):
        context = self.context(CALM)
        with context.sampler(interval=3600) as sampler:
            await anext(sampler)
            task = asyncio.create_task(anext(sampler))
            await asyncio.sleep(0.02)
            context.cancel()
            with self.assertRaises(hypomnesis.CancelledError):
                await asyncio.wait_for(task, 60)
            context.resume()
            task = asyncio.create_task(anext(sampler))
            await asyncio.sleep(0.02)
        with self.assertRaises(StopAsyncIteration):
            await asyncio.wait_for(task, 60)
        with self.assertRaises(hypomnesis.ClosedError):
            await anext(sampler)
        with self.assertRaises(hypomnesis.StateError):
            await anext(context.sampler())

    async def test_readings_do_not_block_the_loop(self):
        machine = {"devices": [{"pools": POOLS, "delays": [{"call": "pools", "ms": 300}]}]}
        context = self.context(machine)
        context.scan()
        reading = asyncio.create_task(hypomnesis.read(context.pool, 0))
        turns = 0
        while not reading.done():
            await asyncio.sleep(0.01)
            turns += 1
        self.assertEqual((await reading).used_bytes, 3 << 30)
        self.assertGreater(turns, 5)
        snapshot = await hypomnesis.read(context.snapshot, Collect.POOLS, device_index=0)
        self.assertEqual(snapshot.devices[0].main_pool.used_bytes, 3 << 30)
        with self.assertRaises(hypomnesis.NoDeviceError):
            await hypomnesis.read(context.pool, 9)

    async def test_a_cancelled_reading_leaves_others_alone(self):
        context = self.context(hanging("telemetry"), deadline=hypomnesis.UNLIMITED)
        context.scan()
        start = time.monotonic()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(hypomnesis.read(context.telemetry, 0), 0.05)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual((await hypomnesis.read(context.own_memory)).resident_bytes, 5 << 20)

    def test_a_program_ends_while_a_cancelled_reading_hangs(self):
        program = ("import asyncio, sys\nimport hypomnesis as h\n"
                   "async def main():\n"
                   "    c = h.Context(deadline=h.UNLIMITED, paths={h.Place.SIMULATION: sys.argv[1]})\n"
                   "    try: await asyncio.wait_for(h.read(c.pool, 0), 0.1)\n"
                   "    except asyncio.TimeoutError: print('ended')\n"
                   "asyncio.run(main())\n")
        done = subprocess.run([sys.executable, "-B", "-W", "error", "-c", program,
                               str(self.machine(hanging("pools")))], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ended\n", ""))


if __name__ == "__main__":
    run_suite()
