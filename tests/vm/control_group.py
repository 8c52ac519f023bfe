# SPDX-License-Identifier: MIT OR Apache-2.0
"""Real control groups of version 2 with the memory controller."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from guest import (GROUPS, HOLDER, MIB, NOBODY, Check, Group, hmn, insert_module, read_kernel_file, read_meminfo,
                   snapshot)

# Memory of every command: programs, libraries, page tables, and pages that a CPU preallocates (charged in batches).
TOLERANCE = 16 * MIB


class Groups(Check):
    @classmethod
    def setUpClass(cls):
        if "memory" not in read_kernel_file(GROUPS / "cgroup.controllers").split():
            raise unittest.SkipTest("this kernel has no memory controller")

    def setUp(self):
        (GROUPS / "cgroup.subtree_control").write_text("+memory\n")


def has_peak():
    """memory.peak came with Linux 5.19."""
    group = Group("peak")
    try:
        return (group.path / "memory.peak").exists()
    finally:
        group.remove()


class Run(Groups):
    def setUp(self):
        super().setUp()
        self.home = self.group("command")
        if not has_peak():
            _, report = self.run_json("true")
            self.assertIsNone(report["control_group"]["bytes"])
            self.assertIn("memory.peak", report["control_group"]["reason"])
            self.skipTest("this kernel keeps no memory.peak")

    def run_json(self, *command, through=None, code=0):
        with tempfile.NamedTemporaryFile(dir="/tmp", suffix=".json") as file:
            pathlib.Path(file.name).chmod(0o666)
            result = hmn("run", "--trace", "--output", file.name, "--", *command,
                         through=self.home.enter() if through is None else through, code=code)
            self.summary = result.err
            return result, json.loads(pathlib.Path(file.name).read_text())

    def can_reset(self):
        """memory.peak can be reset since Linux 6.12, where the file is writable."""
        return bool((self.home.path / "memory.peak").stat().st_mode & 0o222)

    def test_the_peak_is_the_memory_that_the_command_touched(self):
        for mib in (48, 200):
            _, report = self.run_json(HOLDER, f"fill:{mib}")
            self.assertEqual(report["control_group"]["kind"], "exact")
            self.assertGreaterEqual(report["control_group"]["bytes"], mib * MIB)
            self.assertLess(report["control_group"]["bytes"], mib * MIB + TOLERANCE)
            self.assertRegex(self.summary, r"control group +\d")

    def test_a_peak_lower_than_before_is_exact_only_if_memory_peak_can_be_reset(self):
        self.run_json(HOLDER, "fill:200")
        _, report = self.run_json(HOLDER, "fill:48")
        group = report["control_group"]
        self.assertEqual(group["kind"], "exact" if self.can_reset() else "upper_bound")
        self.assertEqual(group["bytes"] < 48 * MIB + TOLERANCE, self.can_reset())

    def test_the_peak_matches_the_kernels_memory_peak(self):
        script = f"{HOLDER} fill:100; cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/memory.peak"
        result, report = self.run_json("sh", "-c", script)
        self.assertGreaterEqual(int(result.out), 100 * MIB)
        self.assertGreaterEqual(report["control_group"]["bytes"], 100 * MIB)
        self.assertLess(report["control_group"]["bytes"], int(result.out) + TOLERANCE)

    def test_the_peak_includes_all_processes_of_the_command(self):
        _, report = self.run_json(HOLDER, "fork", "fill:60", "sleep:1500", "wait")
        self.assertGreaterEqual(report["control_group"]["bytes"], 120 * MIB)
        self.assertLess(report["largest_process"]["bytes"], 60 * MIB + TOLERANCE)

    def test_no_process_is_moved_to_another_group(self):
        script = "cat /proc/self/cgroup /proc/$PPID/cgroup; sleep 300 >/dev/null 2>&1 & echo $!"
        result, report = self.run_json("sh", "-c", script)
        *groups, left_pid = result.out.splitlines()
        self.assertEqual(groups, ["0::/command", "0::/command"])
        self.assertEqual(read_kernel_file(f"/proc/{left_pid}/cgroup"), "0::/command")
        self.assertEqual(report["left_running"], 1)
        os.kill(int(left_pid), signal.SIGKILL)

    def test_a_command_killed_at_a_limit_is_reported_with_its_peak(self):
        outer = self.group("outer", limit=96 * MIB).give_memory()
        home = self.group("terminal.scope", outer)
        # The limit applies to hmn too: keeps the OOM killer from choosing it.
        protection = ("sh", "-c", 'echo -1000 >/proc/self/oom_score_adj && exec "$@"', "sh")
        script = f"echo 0 >/proc/self/oom_score_adj && exec {HOLDER} fill:400"
        _, report = self.run_json("sh", "-c", script, through=(*home.enter(), *protection), code=128 + 9)
        self.assertIn("oom_kill 1", read_kernel_file(outer.path / "memory.events").splitlines())
        self.assertEqual(report["exit_code"], 128 + 9)
        # A group counts a batch of pages before its parent refuses them.
        self.assertLess(report["control_group"]["bytes"], 98 * MIB)
        self.assertGreater(report["control_group"]["bytes"], 96 * MIB - TOLERANCE)
        self.assertIn("exit code 137", self.summary)
        self.assertRegex(self.summary, r"control group +9\d\.?\d* MiB")

    def test_the_peak_is_unknown_in_a_group_with_other_processes(self):
        self.start(*self.home.enter(), HOLDER, "sleep:600000")
        _, report = self.run_json(HOLDER, "fill:30")
        self.assertIsNone(report["control_group"]["bytes"])
        self.assertIn("holds other processes", report["control_group"]["reason"])
        self.assertRegex(self.summary, r"control group +\?")
        self.assertGreaterEqual(report["largest_process"]["bytes"], 30 * MIB)

    def test_the_peak_is_readable_without_privileges(self):
        _, report = self.run_json(HOLDER, "fill:80", through=(*self.home.enter(), *NOBODY))
        self.assertIsNone(report["control_group"]["reason"])
        self.assertGreaterEqual(report["control_group"]["bytes"], 80 * MIB)
        self.assertLess(report["control_group"]["bytes"], 80 * MIB + TOLERANCE)

    def test_the_root_and_a_group_without_the_controller_have_no_peak(self):
        _, report = self.run_json("true", through=())
        self.assertIn("has no memory.peak", report["control_group"]["reason"])
        (GROUPS / "cgroup.subtree_control").write_text("-memory\n")
        _, report = self.run_json("true")
        self.assertIsNone(report["control_group"]["bytes"])
        self.assertIn("has no memory.peak", report["control_group"]["reason"])


class Limit(Groups):
    def system(self, group, *prefix):
        return snapshot(through=(*group.enter(), *prefix))["system"]

    def check_limit(self, report, limit, group):
        """Checks the limit, and that the usage is close to the kernel's value."""
        self.assertEqual(report["limit_bytes"], limit)
        self.assertIsNotNone(report["limit_used_bytes"])
        self.assertLess(abs(report["limit_used_bytes"] - group.read_number("memory.current")), TOLERANCE)

    def test_the_tightest_limit_of_the_enclosing_groups_applies(self):
        a = self.group("a", limit=600 * MIB).give_memory()
        b = self.group("b", a, limit=400 * MIB).give_memory()
        c = self.group("c", b)
        holder = self.start(*c.enter(), HOLDER, "fill:150", "sleep:600000")
        while b.read_number("memory.current") < 150 * MIB:
            self.assertIsNone(holder.poll())
        report = self.system(c)
        self.check_limit(report, 400 * MIB, b)
        self.assertGreaterEqual(report["limit_used_bytes"], 150 * MIB)
        self.assertEqual(report["total_bytes"], read_meminfo("MemTotal"))
        b.write("memory.max", "max")
        self.check_limit(self.system(c), 600 * MIB, a)
        c.write("memory.max", 500 * MIB)
        self.check_limit(self.system(c), 500 * MIB, c)
        c.write("memory.max", 600 * MIB)
        other = self.start(*self.group("d", a).enter(), HOLDER, "fill:100", "sleep:600000")
        while a.read_number("memory.current") < 250 * MIB:
            self.assertIsNone(other.poll())
        self.check_limit(self.system(c), 600 * MIB, a)  # of equal limits the outer, which is fuller

    def test_memory_high_is_not_reported_as_a_limit(self):
        a = self.group("a").write("memory.high", 200 * MIB)
        report = self.system(a)
        self.assertEqual((report["limit_bytes"], report["limit_used_bytes"]), (None, None))

    def test_a_control_group_namespace_shows_only_limits_below_its_root(self):
        a = self.group("a", limit=600 * MIB).give_memory()
        b = self.group("b", a, limit=700 * MIB)
        # The old mount is still visible, but the names of the groups in between are no longer reported.
        report = self.system(b, "unshare", "--cgroup")
        self.assertEqual((report["limit_bytes"], report["notes"]), (None, ["partial"]))
        mount = ("unshare", "--cgroup", "--mount", "sh", "-c",
                 'umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"', "sh")
        self.check_limit(self.system(b, *mount), 700 * MIB, b)  # the groups above are not visible

    def test_doctor_reports_the_limit(self):
        a = self.group("a", limit=300 * MIB)
        self.assertRegex(hmn("doctor", through=a.enter(), code=0).out, r"300 MiB")
        self.assertIn("no memory limit applies", hmn("doctor", code=0).out)

    def test_swap_is_reported_for_the_host_despite_a_group_limit(self):
        if not insert_module("zram"):
            self.skipTest("this kernel has no zram")
        pathlib.Path("/sys/block/zram0/disksize").write_text("256M\n")
        for words in (["mkswap", "/dev/zram0"], ["swapon", "/dev/zram0"]):
            subprocess.run(["/run/busybox", *words], check=True, capture_output=True)
        self.addCleanup(lambda: subprocess.run(["/run/busybox", "swapoff", "/dev/zram0"], check=True))
        a = self.group("a", limit=64 * MIB).write("memory.swap.max", 200 * MIB)
        holder = self.start(*a.enter(), HOLDER, "fill:160", "sleep:600000")
        while a.read_number("memory.swap.current") < 96 * MIB:
            self.assertIsNone(holder.poll())
        report = snapshot()["system"]
        self.assertEqual(report["swap_total_bytes"], read_meminfo("SwapTotal"))
        self.assertLess(abs(report["swap_free_bytes"] - read_meminfo("SwapFree")), 8 * MIB)
        self.assertGreaterEqual(report["swap_total_bytes"] - report["swap_free_bytes"], 90 * MIB)


class VersionOne(Check):
    """The hierarchy of version 1, which gets the controller if version 2 does not use it."""

    ROOT = pathlib.Path("/run/memory")

    def setUp(self):
        (GROUPS / "cgroup.subtree_control").write_text("-memory\n")
        self.ROOT.mkdir(exist_ok=True)
        if not self.mount():
            self.skipTest("this kernel has no memory controller of version 1, or has it in use in version 2")
        self.addCleanup(lambda: subprocess.run(["umount", self.ROOT], check=True))

    def mount(self):
        """Removed groups of version 2 keep the controller until their pages are freed."""
        for _ in range(20):
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")
            result = subprocess.run(["mount", "-t", "cgroup", "-o", "memory", "memory", self.ROOT], capture_output=True)
            if result.returncode == 0:
                return True
            time.sleep(0.5)
        return False

    def group(self, path, limit=None):
        path = self.ROOT / path
        path.mkdir()
        self.addCleanup(path.rmdir)
        if limit:
            (path / "memory.limit_in_bytes").write_text(str(limit))
        return path

    def system(self, group, *prefix):
        move = ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh")
        return snapshot(through=(*move, *prefix))["system"]

    def test_the_tightest_limit_of_the_enclosing_groups_applies(self):
        a, b = self.group("a", 600 * MIB), self.group("a/b", 700 * MIB)
        report = self.system(b)
        self.assertEqual(report["limit_bytes"], 600 * MIB)
        self.assertLess(abs(report["limit_used_bytes"] - int(read_kernel_file(a / "memory.usage_in_bytes"))), TOLERANCE)
        (b / "memory.limit_in_bytes").write_text(str(200 * MIB))
        self.assertEqual(self.system(b)["limit_bytes"], 200 * MIB)
        self.assertIsNone(self.system(self.ROOT)["limit_bytes"])

    def test_a_limit_above_the_mounted_group_applies(self):
        self.group("a", 600 * MIB)
        b = self.group("a/b", 700 * MIB)
        mounts = f'mount --bind {b} {self.ROOT} && exec "$@"'
        report = self.system(b, "unshare", "--mount", "sh", "-c", mounts, "sh")
        self.assertEqual((report["limit_bytes"], report["limit_used_bytes"]), (600 * MIB, None))
