# SPDX-License-Identifier: MIT OR Apache-2.0
"""Control groups of version 2 with the memory controller, as the kernel really has them."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from guest import GROUPS, HOLDER, MIB, NOBODY, Check, Group, hmn, insert, kernel, meminfo, snapshot

# Of every command: programs, libraries, page tables, the pages that a CPU keeps ready (charged in batches).
SLACK = 16 * MIB


class Groups(Check):
    @classmethod
    def setUpClass(cls):
        if "memory" not in kernel(GROUPS / "cgroup.controllers").split():
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
            _, said = self.run_json("true")
            self.assertIsNone(said["control_group"]["bytes"])
            self.assertIn("memory.peak", said["control_group"]["reason"])
            self.skipTest("this kernel keeps no memory.peak")

    def run_json(self, *command, through=None, code=0):
        with tempfile.NamedTemporaryFile(dir="/tmp", suffix=".json") as file:
            pathlib.Path(file.name).chmod(0o666)
            result = hmn("run", "--trace", "--output", file.name, "--", *command,
                         through=self.home.inside() if through is None else through, code=code)
            self.report = result.err
            return result, json.loads(pathlib.Path(file.name).read_text())

    def resets(self):
        """memory.peak can begin again since Linux 6.12: the file is writable then."""
        return bool((self.home.path / "memory.peak").stat().st_mode & 0o222)

    def test_the_peak_is_what_the_command_touched(self):
        for mib in (48, 200):
            _, said = self.run_json(HOLDER, f"fill:{mib}")
            self.assertEqual(said["control_group"]["kind"], "exact")
            self.assertGreaterEqual(said["control_group"]["bytes"], mib * MIB)
            self.assertLess(said["control_group"]["bytes"], mib * MIB + SLACK)
            self.assertRegex(self.report, r"control group +\d")

    def test_a_lower_peak_than_before_is_exact_where_it_can_begin_again(self):
        self.run_json(HOLDER, "fill:200")
        _, said = self.run_json(HOLDER, "fill:48")
        group = said["control_group"]
        self.assertEqual(group["kind"], "exact" if self.resets() else "upper_bound")
        self.assertEqual(group["bytes"] < 48 * MIB + SLACK, self.resets())

    def test_the_peak_is_the_kernels(self):
        script = f"{HOLDER} fill:100; cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/memory.peak"
        result, said = self.run_json("sh", "-c", script)
        self.assertGreaterEqual(int(result.out), 100 * MIB)
        self.assertGreaterEqual(said["control_group"]["bytes"], 100 * MIB)
        self.assertLess(said["control_group"]["bytes"], int(result.out) + SLACK)

    def test_several_processes_at_once_are_one_peak(self):
        _, said = self.run_json(HOLDER, "fork", "fill:60", "sleep:1500", "wait")
        self.assertGreaterEqual(said["control_group"]["bytes"], 120 * MIB)
        self.assertLess(said["largest_process"]["bytes"], 60 * MIB + SLACK)

    def test_nothing_is_moved(self):
        script = "cat /proc/self/cgroup /proc/$PPID/cgroup; sleep 300 >/dev/null 2>&1 & echo $!"
        result, said = self.run_json("sh", "-c", script)
        *groups, left = result.out.splitlines()
        self.assertEqual(groups, ["0::/command", "0::/command"])
        self.assertEqual(kernel(f"/proc/{left}/cgroup"), "0::/command")
        self.assertEqual(said["left_running"], 1)
        os.kill(int(left), signal.SIGKILL)

    def test_the_kernel_kills_a_command_that_a_limit_holds(self):
        outer = self.group("outer", limit=96 * MIB).give_memory()
        home = self.group("terminal.scope", outer)
        # The limit is hmn's too: the kernel is not to take it for what has to go.
        spared = ("sh", "-c", 'echo -1000 >/proc/self/oom_score_adj && exec "$@"', "sh")
        script = f"echo 0 >/proc/self/oom_score_adj && exec {HOLDER} fill:400"
        _, said = self.run_json("sh", "-c", script, through=(*home.inside(), *spared), code=128 + 9)
        self.assertIn("oom_kill 1", kernel(outer.path / "memory.events").splitlines())
        self.assertEqual(said["exit_code"], 128 + 9)
        # A group counts a batch of pages before the one above it refuses them.
        self.assertLess(said["control_group"]["bytes"], 98 * MIB)
        self.assertGreater(said["control_group"]["bytes"], 96 * MIB - SLACK)
        self.assertIn("exit code 137", self.report)
        self.assertRegex(self.report, r"control group +9\d\.?\d* MiB")

    def test_a_group_with_other_processes_has_no_peak_of_the_command(self):
        self.start(*self.home.inside(), HOLDER, "sleep:600000")
        _, said = self.run_json(HOLDER, "fill:30")
        self.assertIsNone(said["control_group"]["bytes"])
        self.assertIn("holds other processes", said["control_group"]["reason"])
        self.assertRegex(self.report, r"control group +\?")
        self.assertGreaterEqual(said["largest_process"]["bytes"], 30 * MIB)

    def test_without_any_right_the_peak_is_read(self):
        _, said = self.run_json(HOLDER, "fill:80", through=(*self.home.inside(), *NOBODY))
        self.assertIsNone(said["control_group"]["reason"])
        self.assertGreaterEqual(said["control_group"]["bytes"], 80 * MIB)
        self.assertLess(said["control_group"]["bytes"], 80 * MIB + SLACK)

    def test_the_root_and_a_group_without_the_controller_have_none(self):
        _, said = self.run_json("true", through=())
        self.assertIn("has no memory.peak", said["control_group"]["reason"])
        (GROUPS / "cgroup.subtree_control").write_text("-memory\n")
        _, said = self.run_json("true")
        self.assertIsNone(said["control_group"]["bytes"])
        self.assertIn("has no memory.peak", said["control_group"]["reason"])


class Limit(Groups):
    def system(self, group, *before):
        return snapshot(through=(*group.inside(), *before))["system"]

    def held(self, said, limit, group):
        """The limit that is set; what is used is near what the kernel reports then."""
        self.assertEqual(said["limit_bytes"], limit)
        self.assertIsNotNone(said["limit_used_bytes"])
        self.assertLess(abs(said["limit_used_bytes"] - group.number("memory.current")), SLACK)

    def test_the_tightest_of_the_groups_around_counts(self):
        a = self.group("a", limit=600 * MIB).give_memory()
        b = self.group("b", a, limit=400 * MIB).give_memory()
        c = self.group("c", b)
        with_memory = self.start(*c.inside(), HOLDER, "fill:150", "sleep:600000")
        while b.number("memory.current") < 150 * MIB:
            self.assertIsNone(with_memory.poll())
        said = self.system(c)
        self.held(said, 400 * MIB, b)
        self.assertGreaterEqual(said["limit_used_bytes"], 150 * MIB)
        self.assertEqual(said["total_bytes"], meminfo("MemTotal"))
        b.write("memory.max", "max")
        self.held(self.system(c), 600 * MIB, a)
        c.write("memory.max", 500 * MIB)
        self.held(self.system(c), 500 * MIB, c)
        c.write("memory.max", 600 * MIB)
        other = self.start(*self.group("d", a).inside(), HOLDER, "fill:100", "sleep:600000")
        while a.number("memory.current") < 250 * MIB:
            self.assertIsNone(other.poll())
        self.held(self.system(c), 600 * MIB, a)  # of equal ones the outer, which is fuller

    def test_no_limit_and_memory_high(self):
        a = self.group("a").write("memory.high", 200 * MIB)
        said = self.system(a)
        self.assertEqual((said["limit_bytes"], said["limit_used_bytes"]), (None, None))

    def test_inside_a_control_group_namespace(self):
        a = self.group("a", limit=600 * MIB).give_memory()
        b = self.group("b", a, limit=700 * MIB)
        # The old mount is still seen, but the names of the groups on the way down are no longer reported.
        said = self.system(b, "unshare", "--cgroup")
        self.assertEqual((said["limit_bytes"], said["notes"]), (None, ["partial"]))
        mount = ("unshare", "--cgroup", "--mount", "sh", "-c",
                 'umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"', "sh")
        self.held(self.system(b, *mount), 700 * MIB, b)  # what is above is out of sight

    def test_doctor_reports_the_limit(self):
        a = self.group("a", limit=300 * MIB)
        self.assertRegex(hmn("doctor", through=a.inside(), code=0).out, r"300 MiB")
        self.assertIn("no memory limit applies", hmn("doctor", code=0).out)

    def test_swap_is_the_hosts_whatever_a_group_may_have(self):
        if not insert("zram"):
            self.skipTest("this kernel has no zram")
        pathlib.Path("/sys/block/zram0/disksize").write_text("256M\n")
        for words in (["mkswap", "/dev/zram0"], ["swapon", "/dev/zram0"]):
            subprocess.run(["/run/busybox", *words], check=True, capture_output=True)
        self.addCleanup(lambda: subprocess.run(["/run/busybox", "swapoff", "/dev/zram0"], check=True))
        a = self.group("a", limit=64 * MIB).write("memory.swap.max", 200 * MIB)
        swapping = self.start(*a.inside(), HOLDER, "fill:160", "sleep:600000")
        while a.number("memory.swap.current") < 96 * MIB:
            self.assertIsNone(swapping.poll())
        said = snapshot()["system"]
        self.assertEqual(said["swap_total_bytes"], meminfo("SwapTotal"))
        self.assertLess(abs(said["swap_free_bytes"] - meminfo("SwapFree")), 8 * MIB)
        self.assertGreaterEqual(said["swap_total_bytes"] - said["swap_free_bytes"], 90 * MIB)


class VersionOne(Check):
    """The hierarchy of version 1, which has the controller where it is unused in version 2."""

    ROOT = pathlib.Path("/run/memory")

    def setUp(self):
        (GROUPS / "cgroup.subtree_control").write_text("-memory\n")
        self.ROOT.mkdir(exist_ok=True)
        if not self.mount():
            self.skipTest("this kernel has no memory controller of version 1, or has it in use in version 2")
        self.addCleanup(lambda: subprocess.run(["umount", self.ROOT], check=True))

    def mount(self):
        """Groups of version 2 that were removed hold the controller until their pages are gone."""
        for _ in range(20):
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n")
            done = subprocess.run(["mount", "-t", "cgroup", "-o", "memory", "memory", self.ROOT], capture_output=True)
            if done.returncode == 0:
                return True
            time.sleep(0.5)
        return False

    def group(self, path, limit=None):
        made = self.ROOT / path
        made.mkdir()
        self.addCleanup(made.rmdir)
        if limit:
            (made / "memory.limit_in_bytes").write_text(str(limit))
        return made

    def system(self, group, *before):
        inside = ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh")
        return snapshot(through=(*inside, *before))["system"]

    def test_the_tightest_of_the_groups_around_counts(self):
        a, b = self.group("a", 600 * MIB), self.group("a/b", 700 * MIB)
        said = self.system(b)
        self.assertEqual(said["limit_bytes"], 600 * MIB)
        self.assertLess(abs(said["limit_used_bytes"] - int(kernel(a / "memory.usage_in_bytes"))), SLACK)
        (b / "memory.limit_in_bytes").write_text(str(200 * MIB))
        self.assertEqual(self.system(b)["limit_bytes"], 200 * MIB)
        self.assertIsNone(self.system(self.ROOT)["limit_bytes"])

    def test_a_limit_above_what_is_mounted(self):
        self.group("a", 600 * MIB)
        b = self.group("a/b", 700 * MIB)
        mounts = f'mount --bind {b} {self.ROOT} && exec "$@"'
        said = self.system(b, "unshare", "--mount", "sh", "-c", mounts, "sh")
        self.assertEqual((said["limit_bytes"], said["limit_used_bytes"]), (600 * MIB, None))
