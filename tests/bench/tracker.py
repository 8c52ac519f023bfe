# SPDX-License-Identifier: MIT OR Apache-2.0
"""tracker.py HMN_BENCH: what an allocation and its release cost one thread against bare compare-exchanges, as
docs/performance.md wants it. The fastest of some repetitions each, in processor time. What threads on all cores cost
each other depends on who else has the cores: scripts/bench measures that."""
import json
import subprocess
import sys

ATTEMPTS = 6
BARE = "two_compare_exchanges"
# (what, against, at most)
WANTED = (("tracker_pair", BARE, 4),
          ("tracker_tagged_pair", BARE, 6))


def fastest(bench):
    """Nanoseconds of each."""
    done = subprocess.run(
        [bench, "--benchmark_filter=^(tracker_pair|tracker_tagged_pair|two_compare_exchanges)$", "--benchmark_repetitions=7",
         "--benchmark_min_time=0.02", "--benchmark_enable_random_interleaving=true", "--benchmark_format=json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=240)
    times = {}
    for each in json.loads(done.stdout)["benchmarks"]:
        if each["run_type"] != "iteration":
            continue
        assert not each.get("error_occurred"), each
        name, time = each["name"], each["cpu_time"]
        times[name] = min(time, times.get(name, time))
    return times


def main():
    best = {}
    for _ in range(ATTEMPTS):
        times = fastest(sys.argv[1])
        for what, against, _ in WANTED:
            ratio = times[what] / times[against]
            best[what] = min(ratio, best.get(what, ratio))
        print(", ".join(f"{what}: {best[what]:.2f} (at most {most})" for what, _, most in WANTED))
        if all(best[what] <= most for what, _, most in WANTED):
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
