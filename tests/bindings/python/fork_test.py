# SPDX-License-Identifier: MIT OR Apache-2.0
"""After a fork a context is reopened with the options and paths of the old one."""
import json
import multiprocessing
import os
import threading
import time
import unittest

import hypomnesis
from hypomnesis import Backend, Context, ContextFlag, Place, State
from support import MACHINES, Case, run_suite


def run_in_child(call):
    """Returns the result of the call in a forked child, through JSON; the child has 20 s."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = call()
        except BaseException as error:
            answer = repr(error)
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    timer = threading.Timer(20, os.kill, (child, 9))
    timer.start()
    with open(reader, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    timer.cancel()
    return json.loads(text) if text else "the child hung"


def read_pids(_):
    return hypomnesis.memory().pid, os.getpid()


class Forks(Case):
    def test_the_default_context_is_reopened_in_a_child(self):
        self.assertEqual(hypomnesis.memory().pid, os.getpid())
        memory_pid, child_pid = run_in_child(lambda: (hypomnesis.memory().pid, os.getpid()))
        self.assertEqual(memory_pid, child_pid)
        self.assertNotEqual(child_pid, os.getpid())
        self.assertEqual(hypomnesis.memory().pid, os.getpid())

    def test_a_child_keeps_the_paths(self):
        context = self.context("workstation")
        self.assertEqual(context.scan().count, 1)
        for call in (lambda: context.device(0).name, lambda: context.snapshot().devices[0].name):
            self.assertEqual(run_in_child(call), "NVIDIA GeForce RTX 4090")
        self.assertEqual(context.device(0).name, "NVIDIA GeForce RTX 4090")

    def test_a_child_keeps_the_options(self):
        context = Context(ContextFlag.NO_SUBPROCESS, backends_off=1 << Backend.NVML)
        self.addCleanup(context.close)
        self.assertEqual(context.backend(Backend.NVML).state, State.OFF)
        self.assertEqual(run_in_child(lambda: context.backend(Backend.NVML).state), State.OFF)

        slow = self.context({"devices": [{"pools": [{"kind": "vram", "total": 1}], "delays": [
            {"call": "pools", "hang": "forever"}]}]}, deadline=0.05)
        self.assertIn("DeadlineError", run_in_child(lambda: slow.pool(0).total_bytes))

    def test_a_path_set_in_a_child_is_used(self):
        context = Context()
        self.addCleanup(context.close)
        context.own_memory()

        def call():
            context.set_path(Place.SIMULATION, MACHINES / "apu.json")
            return context.device(0).name
        self.assertEqual(run_in_child(call), "AMD Radeon 780M Graphics")

    def test_a_context_closed_before_a_fork_stays_closed(self):
        context = self.context("workstation")
        context.close()
        self.assertIn("ClosedError", run_in_child(context.scan))
        other = self.context("workstation")

        def call():
            other.close()
            return other.closed
        self.assertIs(run_in_child(call), True)
        self.assertEqual(other.scan().count, 1)

    def test_snapshots_stay_readable_in_a_child(self):
        context = self.context("workstation")
        before = context.snapshot()
        after = context.snapshot()
        text = run_in_child(lambda: [before.json(), after.delta_since(before, 0).device_bytes])
        self.assertEqual(text, [before.json(), 0])

    def test_a_fork_works_while_a_driver_hangs(self):
        gate = self.folder / "gate"
        context = self.context({"devices": [{"name": "GPU", "pools": [{"kind": "vram", "total": 5}],
                                             "delays": [{"call": "pools",
                                                         "hang_until": str(gate)}]}]},
                               deadline=30)
        self.assertEqual(context.scan().count, 1)
        thread = threading.Thread(target=lambda: context.pool(0))
        thread.start()
        time.sleep(0.1)
        self.assertEqual(run_in_child(lambda: context.device(0).name), "GPU")
        self.assertTrue(thread.is_alive())
        gate.touch()
        thread.join(20)
        self.assertFalse(thread.is_alive())

    def test_each_process_of_a_pool_reads_its_own_memory(self):
        hypomnesis.memory()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for memory_pid, pid in pool.map(read_pids, range(8)):
                self.assertEqual(memory_pid, pid)

    def test_a_grandchild_reads_its_own_memory(self):
        hypomnesis.memory()
        self.assertIs(run_in_child(lambda: run_in_child(
            lambda: hypomnesis.memory().pid == os.getpid())), True)


if __name__ == "__main__":
    run_suite()
