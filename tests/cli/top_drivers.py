# SPDX-License-Identifier: MIT OR Apache-2.0
"""top_drivers.py NVML: `hmn top` with NVML's fake: a GPU that hangs, and processes of this system."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from command import COMMAND, Machines, main, skip_all
from screen import TMUX, Screen

NVML = sys.argv.pop(1)
IS_SANITIZED = b"__asan_init" in pathlib.Path(COMMAND[0]).read_bytes()


def gpu(number, **keys):
    return {"name": f"NVIDIA L{number}", "uuid": f"GPU-{number:04}", "pci": {"address": f"00000000:0{number + 1}:00.0"},
            "minor": number, "memory": {"total": "40 GiB", "free": "30 GiB", "used": "10 GiB"},
            "memory_v2": {"total": "40 GiB", "reserved": 0, "free": "30 GiB", "used": "10 GiB"},
            "utilization": {"gpu": 60 + number, "memory": 1}, "temperature": 50, "power_usage_mw": 100000} | keys


class Drivers(Machines):
    def open(self, scenario, *arguments, size=(100, 30), **keys):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        screen = Screen("top", *(arguments or ("--interval", "200ms")), size=size, HMN_NVML=NVML,
                        FAKE_NVML_SCENARIO=path, HMN_NVIDIA_SMI=self.folder / "none", **keys)
        self.addCleanup(screen.close)
        return screen

    def sleeper(self, *words):
        made = subprocess.Popen(words or ["sleep", "600"])
        self.addCleanup(made.wait)
        self.addCleanup(made.kill)
        return made


class Hangs(Drivers):
    def test_only_the_row_of_the_gpu_that_hangs_stops(self):
        screen = self.open({"devices": [gpu(0), gpu(1)], "rules": [
            {"call": "nvmlDeviceGetUtilizationRates", "device": 0, "hang": True, "from": 4}]})
        frame = screen.until(lambda now: re.search(r"0 L0 +hung +\w", now), "GPU that hangs")
        self.assertRegex(frame, r"1 L1 +█+.* 61%")
        screen.keys("?")
        screen.until_has("filter as you type")
        screen.keys("Escape")
        screen.keys("q")
        self.assertEqual(screen.exit_status(), 0)

    def test_a_driver_that_hangs_or_ends_the_program_at_its_start_stops_no_key(self):
        for fault in ({"hang": True}, {"ends": "exit"}, {"ends": "_exit"}):
            screen = self.open({"devices": [gpu(0)], "rules": [{"call": "nvmlInit*"} | fault]})
            screen.until_has("hmn top")
            screen.keys("?")
            screen.until_has("filter as you type")
            screen.keys("q", "q")
            self.assertEqual(screen.exit_status(), 0)

    def test_what_a_driver_prints_is_not_in_the_screen(self):
        screen = self.open({"devices": [gpu(0), gpu(1)], "rules": [{"call": "nvml*", "prints": "NOISE"}]})
        frame = screen.until(lambda now: re.search(r"1 L1 +█+.* 61%", now), "loads")
        self.assertNotIn("NOISE", frame)
        screen.keys("?")
        self.assertNotIn("NOISE", screen.until(lambda now: "filter as you type" in now, "help"))
        screen.keys("q", "q")
        self.assertEqual(screen.exit_status(), 0)


class Cost(Drivers):
    """Counts that no other work on this machine raises."""

    def count(self, screen, name, of="io"):
        with open(f"/proc/{screen.pid()}/{of}", encoding="utf-8") as file:
            return int(re.search(rf"(?m)^{name}:\s*(\d+)", file.read())[1])

    def test_of_a_process_it_reads_what_can_have_changed(self):
        many, seconds = 64, 10
        pids = [self.sleeper().pid for _ in range(many)]
        screen = self.open({"devices": [gpu(i, processes={"compute": [
            {"pid": pid, "used": "1 GiB"} for pid in pids[i::8]]}) for i in range(8)]}, "--interval", "1s", size=(120, 40))
        screen.until_has("8 GPUs", "64 processes")
        time.sleep(2)
        begun, reads, written = time.monotonic(), self.count(screen, "syscr"), self.count(screen, "wchar")
        time.sleep(seconds)
        reads, written = self.count(screen, "syscr") - reads, self.count(screen, "wchar") - written
        passed = int(time.monotonic() - begun) + 1
        # Its stat each second; its command line and its cgroup every fifth; its stat for processor time every third.
        expected = many * (passed + 2 * (passed // 5 + 1) + passed // 3 + 1)
        self.assertGreater(reads, many * 2)
        self.assertLess(reads, expected * 5 // 4)
        self.assertLess(written, passed * 1500)
        if not IS_SANITIZED:
            self.assertLess(self.count(screen, "RssAnon", "status"), 5 * 1024)

    def test_a_frame_writes_what_changed(self):
        screen = self.open({"devices": [gpu(0), gpu(1)]}, "--interval", "100ms")
        screen.until_has("2 GPUs")
        screen.keys("v", "v")  # no curves
        screen.until_lacks("1 min")
        time.sleep(0.5)
        before = self.count(screen, "wchar")
        time.sleep(3)
        self.assertLess(self.count(screen, "wchar") - before, 1000)


class Processes(Drivers):
    def shown(self, *pids, **keys):
        return self.open({"devices": [gpu(0, processes={"compute": [{"pid": pid, "used": "1 GiB"} for pid in pids]})]},
                         **keys)

    def test_values_of_a_process_of_this_system(self):
        worker = self.sleeper(sys.executable, "-c", "while True: pass")
        screen = self.shown(worker.pid, size=(140, 30))
        frame = screen.until(lambda now: re.search(rf"{worker.pid} .* \d\d+% +\d+s +\S+ .*while True", now),
                             "processor time")
        self.assertRegex(frame, rf"{worker.pid} +\S+ +0 C +- +1\.00 GiB +[\d.]+ MiB +\d\d+%")

    def test_another_command_line_is_shown_soon(self):
        script = "read go; exec bash -c 'read go; exec sleep 600' renamed"
        target = subprocess.Popen(["bash", "-c", script, "original"], stdin=subprocess.PIPE)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.addCleanup(target.stdin.close)
        screen = self.shown(target.pid, size=(160, 30))
        screen.until_has("original")
        for shown in ("renamed", "sleep 600"):  # of the same name, and of another
            target.stdin.write(b"\n")
            target.stdin.flush()
            screen.until(lambda now, shown=shown: re.search(rf"{target.pid} .*{shown}$", now, re.M), shown)

    def send(self, screen, *keys):
        screen.keys("x")
        screen.until_has("signal to", "TERM")
        screen.keys(*keys)
        screen.keys("Enter")
        screen.until_has("Send ", "any other key does not")

    def test_a_signal_is_sent_after_its_confirmation(self):
        target = self.sleeper()
        screen = self.shown(target.pid)
        screen.until_has(str(target.pid))
        self.send(screen)
        screen.keys("n")
        screen.until_has("nothing was sent")
        self.assertIsNone(target.poll())
        self.send(screen, "Down", "Down", "Down", "Down")
        screen.keys("y")
        screen.until_has(f"STOP was sent to {target.pid} (sleep)")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(target.pid, os.WUNTRACED)[1]))
        self.send(screen)
        screen.keys("y")
        screen.until_has(f"TERM was sent to {target.pid}")
        target.send_signal(signal.SIGCONT)
        self.assertEqual(target.wait(timeout=10), -signal.SIGTERM)

    def test_a_process_that_has_ended_is_reported(self):
        target = self.sleeper()
        screen = self.shown(target.pid, size=(100, 30))
        screen.until_has(str(target.pid))
        screen.keys("Space")
        screen.until_has("held")
        self.send(screen)
        target.kill()
        target.wait()
        screen.keys("y")
        screen.until_has(f"TERM to {target.pid} was not sent: the process has ended")

    def test_a_reused_pid_is_never_hit(self):
        """The pid is given to another process while its confirmation is awaited."""
        target = self.sleeper()
        screen = self.shown(target.pid)
        screen.until_has(str(target.pid))
        screen.keys("Space")
        screen.until_has("held")
        self.send(screen)
        target.kill()
        target.wait()
        other = self.with_pid(target.pid)
        if other is None:
            self.skipTest("this system gives no chosen pid")
        screen.keys("y")
        screen.until_has("was not sent: the process has ended, and its pid is another one's now")
        time.sleep(0.2)
        self.assertTrue(os.path.exists(f"/proc/{other}"))
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)

    def with_pid(self, pid):
        """A process with that pid; only root may choose the next one."""
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
                file.write(str(pid - 1))
        except OSError:
            return None
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        if child == pid:
            return child
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None


if __name__ == "__main__":
    if TMUX is None:
        skip_all("cli.top_drivers", "tmux is not installed")
    main()
