# SPDX-License-Identifier: MIT OR Apache-2.0
"""top_drivers.py NVML: `hmn top` with a fake NVML: a GPU that hangs, and processes of this system."""
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
    def open_screen(self, scenario, *arguments, size=(100, 30), **keys):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(scenario))
        screen = Screen("top", *(arguments or ("--interval", "200ms")), size=size, HMN_NVML=NVML,
                        FAKE_NVML_SCENARIO=path, HMN_NVIDIA_SMI=self.folder / "none", **keys)
        self.addCleanup(screen.close)
        return screen

    def start_sleeper(self, *words):
        process = subprocess.Popen(words or ["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class HungDrivers(Drivers):
    def test_a_hung_gpu_stops_only_its_own_row(self):
        screen = self.open_screen({"devices": [gpu(0), gpu(1)], "rules": [
            {"call": "nvmlDeviceGetUtilizationRates", "device": 0, "hang": True, "from": 4}]})
        frame = screen.wait_until(lambda now: re.search(r"0 L0 +hung +\w", now), "GPU that hangs")
        self.assertRegex(frame, r"1 L1 +█+.* 61%")
        screen.press("?")
        screen.wait_for("filter as you type")
        screen.press("Escape")
        screen.press("q")
        self.assertEqual(screen.exit_status(), 0)

    def test_keys_work_if_the_driver_hangs_or_exits_at_the_start(self):
        for fault in ({"hang": True}, {"ends": "exit"}, {"ends": "_exit"}):
            screen = self.open_screen({"devices": [gpu(0)], "rules": [{"call": "nvmlInit*"} | fault]})
            screen.wait_for("hmn top")
            screen.press("?")
            screen.wait_for("filter as you type")
            screen.press("q", "q")
            self.assertEqual(screen.exit_status(), 0)

    def test_output_of_a_driver_does_not_appear_on_the_screen(self):
        screen = self.open_screen({"devices": [gpu(0), gpu(1)], "rules": [{"call": "nvml*", "prints": "NOISE"}]})
        frame = screen.wait_until(lambda now: re.search(r"1 L1 +█+.* 61%", now), "loads")
        self.assertNotIn("NOISE", frame)
        screen.press("?")
        self.assertNotIn("NOISE", screen.wait_until(lambda now: "filter as you type" in now, "help"))
        screen.press("q", "q")
        self.assertEqual(screen.exit_status(), 0)


class Cost(Drivers):
    """Counters that other work on this machine does not increase."""

    def read_counter(self, screen, name, file_name="io"):
        with open(f"/proc/{screen.pid()}/{file_name}", encoding="utf-8") as file:
            return int(re.search(rf"(?m)^{name}:\s*(\d+)", file.read())[1])

    def test_top_reads_only_files_of_a_process_that_can_have_changed(self):
        count, seconds = 64, 10
        pids = [self.start_sleeper().pid for _ in range(count)]
        screen = self.open_screen({"devices": [gpu(i, processes={"compute": [
            {"pid": pid, "used": "1 GiB"} for pid in pids[i::8]]}) for i in range(8)]}, "--interval", "1s", size=(120, 40))
        screen.wait_for("8 GPUs", "64 processes")
        time.sleep(2)
        start = time.monotonic()
        reads, bytes_written = self.read_counter(screen, "syscr"), self.read_counter(screen, "wchar")
        time.sleep(seconds)
        reads = self.read_counter(screen, "syscr") - reads
        bytes_written = self.read_counter(screen, "wchar") - bytes_written
        elapsed = int(time.monotonic() - start) + 1
        # Each second its stat, each third one its stat for processor time, each fifth one its command line and cgroup.
        expected = count * (elapsed + 2 * (elapsed // 5 + 1) + elapsed // 3 + 1)
        self.assertGreater(reads, count * 2)
        self.assertLess(reads, expected * 5 // 4)
        self.assertLess(bytes_written, elapsed * 1500)
        if not IS_SANITIZED:
            self.assertLess(self.read_counter(screen, "RssAnon", "status"), 5 * 1024)

    def test_a_frame_writes_only_the_changes(self):
        screen = self.open_screen({"devices": [gpu(0), gpu(1)]}, "--interval", "100ms")
        screen.wait_for("2 GPUs")
        screen.press("v", "v")  # no curves
        screen.wait_until_gone("1 min")
        time.sleep(0.5)
        before = self.read_counter(screen, "wchar")
        time.sleep(3)
        self.assertLess(self.read_counter(screen, "wchar") - before, 1000)


class Processes(Drivers):
    def open_with_processes(self, *pids, **keys):
        processes = {"compute": [{"pid": pid, "used": "1 GiB"} for pid in pids]}
        return self.open_screen({"devices": [gpu(0, processes=processes)]}, **keys)

    def test_a_process_of_this_system_has_its_values(self):
        worker = self.start_sleeper(sys.executable, "-c", "while True: pass")
        screen = self.open_with_processes(worker.pid, size=(140, 30))
        frame = screen.wait_until(lambda now: re.search(rf"{worker.pid} .* \d\d+% +\d+s +\S+ .*while True", now),
                                  "processor time")
        self.assertRegex(frame, rf"{worker.pid} +\S+ +0 C +- +1\.00 GiB +[\d.]+ MiB +\d\d+%")

    def test_a_changed_command_line_appears_soon(self):
        script = "read go; exec bash -c 'read go; exec sleep 600' renamed"
        target = subprocess.Popen(["bash", "-c", script, "original"], stdin=subprocess.PIPE)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.addCleanup(target.stdin.close)
        screen = self.open_with_processes(target.pid, size=(160, 30))
        screen.wait_for("original")
        for text in ("renamed", "sleep 600"):  # first with the same process name, then with another
            target.stdin.write(b"\n")
            target.stdin.flush()
            screen.wait_until(lambda now, text=text: re.search(rf"{target.pid} .*{text}$", now, re.M), text)

    def send(self, screen, *keys):
        screen.press("x")
        screen.wait_for("signal to", "TERM")
        screen.press(*keys)
        screen.press("Enter")
        screen.wait_for("Send ", "any other key does not")

    def test_a_signal_is_sent_after_confirmation(self):
        target = self.start_sleeper()
        screen = self.open_with_processes(target.pid)
        screen.wait_for(str(target.pid))
        self.send(screen)
        screen.press("n")
        screen.wait_for("nothing was sent")
        self.assertIsNone(target.poll())
        self.send(screen, "Down", "Down", "Down", "Down")
        screen.press("y")
        screen.wait_for(f"STOP was sent to {target.pid} (sleep)")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(target.pid, os.WUNTRACED)[1]))
        self.send(screen)
        screen.press("y")
        screen.wait_for(f"TERM was sent to {target.pid}")
        target.send_signal(signal.SIGCONT)
        self.assertEqual(target.wait(timeout=10), -signal.SIGTERM)

    def test_a_signal_to_an_ended_process_is_reported(self):
        target = self.start_sleeper()
        screen = self.open_with_processes(target.pid, size=(100, 30))
        screen.wait_for(str(target.pid))
        screen.press("Space")
        screen.wait_for("held")
        self.send(screen)
        target.kill()
        target.wait()
        screen.press("y")
        screen.wait_for(f"TERM to {target.pid} was not sent: the process has ended")

    def test_a_reused_pid_receives_no_signal(self):
        """Another process gets the PID while top waits for the confirmation."""
        target = self.start_sleeper()
        screen = self.open_with_processes(target.pid)
        screen.wait_for(str(target.pid))
        screen.press("Space")
        screen.wait_for("held")
        self.send(screen)
        target.kill()
        target.wait()
        successor = self.fork_with_pid(target.pid)
        if successor is None:
            self.skipTest("this system gives no chosen pid")
        screen.press("y")
        screen.wait_for("was not sent: the process has ended, and its pid is another one's now")
        time.sleep(0.2)
        self.assertTrue(os.path.exists(f"/proc/{successor}"))
        os.kill(successor, signal.SIGKILL)
        os.waitpid(successor, 0)

    def fork_with_pid(self, pid):
        """Forks a process with that PID; only root may choose the next PID."""
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
