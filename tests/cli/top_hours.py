# SPDX-License-Identifier: MIT OR Apache-2.0
"""top_hours.py CLOCK: hours of `hmn top` with a clock that skips waits (fast_clock.c): curves of all spans, and
memory that does not grow with time."""
import math
import re
import sys
import time

from command import MIB, Machines, main, skip_all
from screen import TMUX, Screen

CLOCK = sys.argv.pop(1)
INTERVAL = 5
CHANGES = 900
STEP = 96  # seconds between changes: 24 hours
BATCH = 8
SLACK = 2 * MIB


def gpu(number):
    rows = [{"pid": 10**6 + BATCH * number + i, "used": "1GiB", "name": f"work-{number}-{i}", "busy_percent": 5}
            for i in range(BATCH)]
    load = round(50 + 50 * math.sin(number / 6))
    return {"name": "Card", "vendor": "nvidia", "processes": rows,
            "telemetry": {"gpu_busy_percent": load, "power_watts": 100 + load, "power_limit_watts": 300},
            "pools": [{"kind": "vram", "total": "16GiB", "used": f"{1 + number % 15}GiB"}]}


class Hours(Machines):
    def test_curves_are_complete_and_memory_does_not_grow_over_a_day(self):
        changes = [{"after_ms": 1000 * STEP * number, "patch": [
            {"op": "replace", "path": "/devices/0", "value": gpu(number)}]} for number in range(1, CHANGES)]
        machine = self.write_machine(devices=[gpu(0)], changes=changes)
        screen = Screen("top", "--machine", machine, "--interval", f"{INTERVAL}s", size=(120, 40), LD_PRELOAD=CLOCK)
        self.addCleanup(screen.close)
        screen.wait_for("GPU 0 load")
        pid = screen.pid()

        def latest_change():
            match = re.search(r"work-(\d+)-", screen.capture())
            return int(match[1]) if match else 0

        def read_resident():
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                kib = dict(re.findall(r"(?m)^(RssAnon|VmSwap):\s*(\d+)", status.read()))
            return 1024 * sum(map(int, kib.values()))

        def wait_for_change(number):
            deadline = time.monotonic() + 600
            while latest_change() < number:
                self.assertLess(time.monotonic(), deadline, screen.capture())
                time.sleep(0.2)

        wait_for_change(4 * 3600 // STEP)
        baseline = read_resident()
        screen.press("t")
        for name, hours in (("1 h", 5), ("24 h", 6)):
            screen.press("t")
            frame = screen.wait_for(f" {name} ")
            wait_for_change(hours * 3600 // STEP)
            frame = screen.capture()
            # The curve of the hour is full, that of the day has a quarter.
            dots = len(re.findall("[⣀-⣿]", frame))
            self.assertGreater(dots, 40, frame)
        wait_for_change(CHANGES - 2)
        self.assertLess(read_resident(), baseline + SLACK)
        frame = screen.wait_for(" 24 h ")
        upper = next(line for line in frame.splitlines() if line.startswith("╰") and " 24 h " in line)
        self.assertIn("max 100%", upper)
        bottom = frame.splitlines()[frame.splitlines().index(upper) - 1]
        # The curve has no gap from the first hour to the last.
        curve = bottom[1:bottom.index("│", 1)]
        self.assertNotIn(" ", curve.strip())
        self.assertGreater(len(curve.strip()), len(curve) * 9 // 10)
        screen.press("q")
        self.assertEqual(screen.exit_status(), 0)


if __name__ == "__main__":
    if TMUX is None:
        skip_all("cli.top_hours", "tmux is not installed")
    main()
