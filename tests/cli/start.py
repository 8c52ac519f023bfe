# SPDX-License-Identifier: MIT OR Apache-2.0
"""start.py EMPTY: `hmn --json` where there is no GPU takes at most 2.5 times the processor time of
EMPTY, a program that does nothing and is linked to the same shared libraries, and does not wait."""
import os
import sys
import time

from command import COMMAND, environment, run, skip_all

LIMIT = 2.5  # other work has the caches: scripts/bench compares with the target
# Of the clock on the wall, which other work holds up: one that waits for something is far beyond.
WALL_LIMIT = 10
ROUNDS = 100
ATTEMPTS = 8


def times(words):
    """Of the processor, of the wall."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    began = time.perf_counter()
    child = os.posix_spawn(words[0], words, environment(), file_actions=quiet)
    _, status, use = os.wait4(child, 0)
    assert status == 0, status
    return use.ru_utime + use.ru_stime, time.perf_counter() - began


def ratios(empty):
    """Of the fastest tenth: what is slower had to share its processor, or its caches."""
    rounds = [times([empty]) + times([*COMMAND, "--json"]) for _ in range(ROUNDS)]
    fast = [sum(sorted(column)[:ROUNDS // 10]) for column in zip(*rounds)]
    return fast[2] / fast[0], fast[3] / fast[1]


def main():
    if run("--json").out != "[]\n":
        skip_all("cli.start", "this machine has a GPU")
    for _ in range(ATTEMPTS):
        processor, wall = ratios(sys.argv[1])
        print(f"hmn --json: {processor:.2f} times the processor time of an empty program (at most {LIMIT}), "
              f"{wall:.2f} times its time (at most {WALL_LIMIT})")
        if processor <= LIMIT and wall <= WALL_LIMIT:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
