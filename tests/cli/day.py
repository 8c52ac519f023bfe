# SPDX-License-Identifier: MIT OR Apache-2.0
"""day.py CLOCK: a day of hmn watch, hmn run and hmn log with a clock that jumps over the waits
(fast_clock.c): what they keep does not grow with time."""
import json
import os
import re
import subprocess
import sys
import time

from command import COMMAND, GIB, MIB, Machines, environment, main

CLOCK = sys.argv.pop(1)
HOUR_NS = 3600 * 10**9
# Of a process that has settled: what its allocator happens to do.
SLACK = 1 * MIB
INTERVAL = 5

# As many as a machine file may have.
CHANGES = 960
SECONDS = 24 * 3600 // CHANGES
AT_ONCE = 8


def gpu(number):
    """Eight processes come and eight go at each change; memory spills after every second one."""
    spills = number % 2 == 1
    rows = [{"pid": 10**6 + AT_ONCE * number + i, "used": "1GiB", "host_pool": "1MiB",
             "name": f"work-{number}-{i}"} for i in range(AT_ONCE)]
    return {"name": "Card", "vendor": "amd", "processes": rows, "pools": [
        {"kind": "vram", "total": "16GiB", "used": "15GiB" if spills else "8GiB"},
        {"kind": "host", "total": "32GiB", "used": "1GiB" if spills else "128MiB"}]}


class Day(Machines):
    def setUp(self):
        super().setUp()
        changes = [{"after_ms": 1000 * SECONDS * number, "patch": [
            {"op": "replace", "path": "/devices/0", "value": gpu(number)}]} for number in range(1, CHANGES)]
        self.began = time.monotonic()
        self.busy = self.machine(devices=[gpu(0)], host={"otherwise": "real"}, changes=changes)

    def start(self, *arguments, **streams):
        return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, **streams,
                                env=environment(LD_PRELOAD=CLOCK))

    def resident(self, process):
        """What the process has written, which no shortage of memory takes away."""
        with open(f"/proc/{process.pid}/status") as status:
            kib = dict(re.findall(r"(?m)^(RssAnon|VmSwap):\s*(\d+)", status.read()))
        return 1024 * sum(map(int, kib.values()))

    def spent(self):
        """Time passes while hmn works or stands still, too: a slot that was missed took an interval of ours."""
        return time.monotonic() - self.began

    def settled(self, process, lines, hour_of, settled_at):
        """Resident memory when that hour has come and at the end; lines are read as they come."""
        first = last = 0
        for line in lines:
            hour = hour_of(line)
            if hour is None:
                break
            if hour >= settled_at and first == 0:
                first = self.resident(process)
            if hour > 23:
                last = self.resident(process)
                break
        self.assertGreater(first, 0)
        self.assertLess(last, first + SLACK)
        self.assertLess(last, 40 * MIB)

    def test_watch(self):
        with self.start("watch", "--json", "--follow-new", "--top", AT_ONCE, "--interval", f"{INTERVAL}s",
                        "--duration", "24h", "--machine", self.busy, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as watching:
            # The 4096 that are remembered are full after 12.8 hours.
            self.settled(watching, watching.stdout, lambda line: json.loads(line)["t_ms"] / 3.6e6, 15)
            summary = json.loads(watching.stdout.read().splitlines()[-1])
        self.assertEqual(watching.returncode, 1)
        missed = 24 * 720 + 1 - summary["observations"]
        self.assertIn(missed + summary["skipped"], range(1 + int(self.spent() / INTERVAL)))
        self.assertEqual(summary["episode_count"], CHANGES // 2)
        self.assertEqual((len(summary["per_pid"]), summary["forgotten"]), (4096, AT_ONCE * CHANGES - 4096))
        self.assertEqual({each["name"] for each in summary["per_pid"][-AT_ONCE:]},
                         {f"work-{CHANGES - 1}-{i}" for i in range(AT_ONCE)})
        self.assertEqual((summary["peak_dedicated_bytes"], summary["peak_shared_bytes"]), (15 * GIB, GIB))

    def of_a_command(self, *arguments):
        """A command that ends when the day has; its record has the time."""
        record = self.folder / "record.jsonl"
        os.mkfifo(record)
        watching = self.start("run", "--machine", self.busy, "--interval", f"{INTERVAL}s", "--record", record,
                              *arguments, "--", "cat", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(watching.stderr.close)
        self.addCleanup(watching.kill)
        with open(record) as lines:
            self.settled(watching, lines, lambda line: json.loads(line)["offset_ns"] / HOUR_NS, 2)
            watching.stdin.close()
            for _ in lines:  # until the command has ended
                pass
        text = watching.stderr.read()
        self.assertEqual(watching.wait(), 0)
        return text

    def test_run(self):
        plot, said = self.folder / "day.svg", self.folder / "day.json"
        text = self.of_a_command("--plot", plot, "--output", said)
        found = json.loads(said.read_text())
        self.assertGreater(found["elapsed_ns"], 23 * HOUR_NS)
        whole = found["devices"][0]["whole_device"]
        self.assertEqual(whole["bytes"], 15 * GIB)
        slots = found["elapsed_ns"] // (INTERVAL * 10**9)
        self.assertGreaterEqual(whole["samples"], slots - int(self.spent() / INTERVAL))
        self.assertLess(abs(whole["at_ns"] / 10**9 - SECONDS), 2 * INTERVAL + self.spent())
        longest = whole["interval_ns"] / 10**9  # a slot that was missed is a gap
        self.assertTrue(INTERVAL <= longest <= (2 + int(self.spent() / INTERVAL)) * INTERVAL, longest)
        self.assertRegex(text, f"sampled every ({whole['interval_ns'] // 10**6} ms|{int(longest)} s)")
        self.assertLess(plot.stat().st_size, 200_000)
        self.assertRegex(plot.read_text(), r">\d+:00:00<")

    def test_log(self):
        seconds = 10
        count = 24 * 3600 // seconds + 1
        with self.start("log", "--json", "--interval", f"{seconds}s", "--count", count, "--machine", self.busy,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE) as logging:
            lines = []

            def hour_of(line):
                lines.append(json.loads(line))
                return (lines[-1]["monotonic_ns"] - lines[0]["monotonic_ns"]) / HOUR_NS
            self.settled(logging, logging.stdout, hour_of, 2)
            lines += [json.loads(line) for line in logging.stdout]
            said = logging.stderr.read()
        self.assertEqual(logging.returncode, 0)
        self.assertEqual(len(lines), count)
        found = re.search(r"hmn: (\d+) samples were skipped", said)
        missed = int(found[1]) if found else 0
        self.assertLessEqual(missed, int(self.spent() / seconds))
        # Each begins in its slot.
        for number, line in enumerate(lines):
            late = (line["monotonic_ns"] - lines[0]["monotonic_ns"]) / 10**9 - number * seconds
            self.assertTrue(-seconds < late < (1 + missed) * seconds, (number, late))
        used = [line["used_bytes"] for line in lines]
        self.assertEqual(set(used), {8 * GIB, 15 * GIB})
        changes = sum(one != other for one, other in zip(used, used[1:]))
        self.assertLessEqual(abs(changes - (CHANGES - 1)), missed)


if __name__ == "__main__":
    main()
