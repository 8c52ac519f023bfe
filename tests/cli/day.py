# SPDX-License-Identifier: MIT OR Apache-2.0
"""day.py CLOCK: a day of hmn watch, hmn run and hmn log with a clock that skips waits (fast_clock.c): their memory
does not grow with time."""
import json
import os
import re
import subprocess
import sys
import time

from command import COMMAND, GIB, MIB, Machines, environment, main

CLOCK = sys.argv.pop(1)
HOUR_NS = 3600 * 10**9
# Growth that the allocator may cause in a settled process.
SLACK = 1 * MIB
INTERVAL = 5

# The most that a machine file may have.
CHANGES = 960
SECONDS = 24 * 3600 // CHANGES
BATCH = 8


def gpu(number):
    """Eight processes come and eight go at each change; memory spills after every second one."""
    spills = number % 2 == 1
    rows = [{"pid": 10**6 + BATCH * number + i, "used": "1GiB", "host_pool": "1MiB",
             "name": f"work-{number}-{i}"} for i in range(BATCH)]
    return {"name": "Card", "vendor": "amd", "processes": rows, "pools": [
        {"kind": "vram", "total": "16GiB", "used": "15GiB" if spills else "8GiB"},
        {"kind": "host", "total": "32GiB", "used": "1GiB" if spills else "128MiB"}]}


class Day(Machines):
    def setUp(self):
        super().setUp()
        changes = [{"after_ms": 1000 * SECONDS * number, "patch": [
            {"op": "replace", "path": "/devices/0", "value": gpu(number)}]} for number in range(1, CHANGES)]
        self.start_time = time.monotonic()
        self.busy = self.write_machine(devices=[gpu(0)], host={"otherwise": "real"}, changes=changes)

    def start(self, *arguments, **streams):
        return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, **streams,
                                env=environment(LD_PRELOAD=CLOCK))

    def read_resident(self, process):
        """Returns the memory that the process has written, in RAM or swap."""
        with open(f"/proc/{process.pid}/status") as status:
            kib = dict(re.findall(r"(?m)^(RssAnon|VmSwap):\s*(\d+)", status.read()))
        return 1024 * sum(map(int, kib.values()))

    def elapsed(self):
        """Returns the real time since the start: each missed slot took one interval of it."""
        return time.monotonic() - self.start_time

    def check_memory(self, process, lines, read_hour, settled_hour):
        """Compares resident memory at that hour and at the end of the day, while lines are read."""
        first = last = 0
        for line in lines:
            hour = read_hour(line)
            if hour is None:
                break
            if hour >= settled_hour and first == 0:
                first = self.read_resident(process)
            if hour > 23:
                last = self.read_resident(process)
                break
        self.assertGreater(first, 0)
        self.assertLess(last, first + SLACK)
        self.assertLess(last, 40 * MIB)

    def test_watch_does_not_grow_over_a_day(self):
        with self.start("watch", "--json", "--follow-new", "--top", BATCH, "--interval", f"{INTERVAL}s",
                        "--duration", "24h", "--machine", self.busy, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL) as process:
            # The list of 4096 remembered processes is full after 12.8 hours.
            self.check_memory(process, process.stdout, lambda line: json.loads(line)["t_ms"] / 3.6e6, 15)
            summary = json.loads(process.stdout.read().splitlines()[-1])
        self.assertEqual(process.returncode, 1)
        missed = 24 * 720 + 1 - summary["observations"]
        self.assertIn(missed + summary["skipped"], range(1 + int(self.elapsed() / INTERVAL)))
        self.assertEqual(summary["episode_count"], CHANGES // 2)
        self.assertEqual((len(summary["per_pid"]), summary["forgotten"]), (4096, BATCH * CHANGES - 4096))
        self.assertEqual({row["name"] for row in summary["per_pid"][-BATCH:]},
                         {f"work-{CHANGES - 1}-{i}" for i in range(BATCH)})
        self.assertEqual((summary["peak_dedicated_bytes"], summary["peak_shared_bytes"]), (15 * GIB, GIB))

    def run_for_a_day(self, *arguments):
        """Runs `hmn run` on a command that lasts a day, and returns its report; the record has the time."""
        record = self.folder / "record.jsonl"
        os.mkfifo(record)
        process = self.start("run", "--machine", self.busy, "--interval", f"{INTERVAL}s", "--record", record,
                             *arguments, "--", "cat", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        with open(record) as lines:
            self.check_memory(process, lines, lambda line: json.loads(line)["offset_ns"] / HOUR_NS, 2)
            process.stdin.close()
            for _ in lines:  # until the command has ended
                pass
        text = process.stderr.read()
        self.assertEqual(process.wait(), 0)
        return text

    def test_run_does_not_grow_over_a_day(self):
        plot, report_path = self.folder / "day.svg", self.folder / "day.json"
        text = self.run_for_a_day("--plot", plot, "--output", report_path)
        report = json.loads(report_path.read_text())
        self.assertGreater(report["elapsed_ns"], 23 * HOUR_NS)
        whole_device = report["devices"][0]["whole_device"]
        self.assertEqual(whole_device["bytes"], 15 * GIB)
        slots = report["elapsed_ns"] // (INTERVAL * 10**9)
        self.assertGreaterEqual(whole_device["samples"], slots - int(self.elapsed() / INTERVAL))
        self.assertLess(abs(whole_device["at_ns"] / 10**9 - SECONDS), 2 * INTERVAL + self.elapsed())
        longest = whole_device["interval_ns"] / 10**9  # a missed slot is a gap
        self.assertTrue(INTERVAL <= longest <= (2 + int(self.elapsed() / INTERVAL)) * INTERVAL, longest)
        self.assertRegex(text, f"sampled every ({whole_device['interval_ns'] // 10**6} ms|{int(longest)} s)")
        self.assertLess(plot.stat().st_size, 200_000)
        self.assertRegex(plot.read_text(), r">\d+:00:00<")

    def test_log_does_not_grow_over_a_day(self):
        seconds = 10
        count = 24 * 3600 // seconds + 1
        with self.start("log", "--json", "--interval", f"{seconds}s", "--count", count, "--machine", self.busy,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            lines = []

            def read_hour(line):
                lines.append(json.loads(line))
                return (lines[-1]["monotonic_ns"] - lines[0]["monotonic_ns"]) / HOUR_NS
            self.check_memory(process, process.stdout, read_hour, 2)
            lines += [json.loads(line) for line in process.stdout]
            errors = process.stderr.read()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(lines), count)
        match = re.search(r"hmn: (\d+) samples were skipped", errors)
        missed = int(match[1]) if match else 0
        self.assertLessEqual(missed, int(self.elapsed() / seconds))
        # Each sample begins in its slot.
        for number, line in enumerate(lines):
            delay = (line["monotonic_ns"] - lines[0]["monotonic_ns"]) / 10**9 - number * seconds
            self.assertTrue(-seconds < delay < (1 + missed) * seconds, (number, delay))
        used = [line["used_bytes"] for line in lines]
        self.assertEqual(set(used), {8 * GIB, 15 * GIB})
        changes = sum(before != after for before, after in zip(used, used[1:]))
        self.assertLessEqual(abs(changes - (CHANGES - 1)), missed)


if __name__ == "__main__":
    main()
