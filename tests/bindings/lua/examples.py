#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py INTERPRETER ROOT: the examples print what the machine files determine."""
import os
import pathlib
import re
import subprocess
import sys

LUA, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.append(str(ROOT / "tests/bindings"))
import on_machines
from free_memory import CASES


def run(example, *arguments, machine=None):
    """Returns (status, output)."""
    environment = dict(os.environ)
    if machine:
        environment["HMN_SIMULATION"] = str(machine if isinstance(machine, pathlib.Path)
                                            else ROOT / f"examples/machines/{machine}.json")
    result = subprocess.run([LUA, str(ROOT / f"examples/lua/{example}.lua"), *arguments], env=environment,
                            capture_output=True, text=True, timeout=60, check=False)
    assert not result.stderr or result.returncode == 2, result.stderr
    return result.returncode, result.stdout


def watch_real():
    """Returns status and output of watch for a real process that ends after the first line."""
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        with subprocess.Popen([LUA, str(ROOT / "examples/lua/watch.lua"), str(sleeper.pid)], stdout=subprocess.PIPE,
                              encoding="utf-8") as program:
            first_line = program.stdout.readline()
            sleeper.kill()
            output = first_line + program.stdout.read()
    return program.returncode, output


def expect(actual, expected):
    assert actual == expected, f"{actual}\nnot\n{expected}"


expect(list(on_machines.find_example_problems(lambda program, arguments, machine:
                                              (*run(program, *arguments, machine=machine), ""))), [])

# 12 MiB resident and 1688 GiB available in server-8gpu.json.
expect(run("memory", machine="server-8gpu"),
       (0, f"resident: {12 << 20} bytes (12 MiB)\navailable: {1688 << 30} bytes (1688.0 GiB)\n"))
status, text = run("memory")
assert status == 0 and re.fullmatch(r"resident: \d+ bytes \(\d+ MiB\)\navailable: \d+ bytes \(.*\)\n", text), text

# GPUs 6 and 7 are empty (81559 MiB, 551 of them reserved); the first of them is reported as having most.
status, text = run("free_memory", "60GiB", machine="server-8gpu")
lines = text.splitlines()
expect((status, len(lines)), (0, 9))
expect(lines[0], "GPU 0 [NVIDIA H100 80GB HBM3]: 4.7 GiB free, does not fit")
expect(lines[6], "GPU 6 [NVIDIA H100 80GB HBM3]: 79.1 GiB free, fits")
expect(lines[8], "GPU 6 has most")
expect(run("free_memory", "80GiB", machine="server-8gpu")[1].splitlines()[8], "no GPU has 80.0 GiB free")
expect(run("free_memory", "80GiB", machine="server-8gpu")[0], 1)
expect(run("free_memory", str(5 << 30), machine="server-8gpu")[0], 0)
for size in ("", "8GB", "x", "-1", "1.2.3GiB"):
    expect(run("free_memory", size, machine="server-8gpu")[0], 2)
status, text = run("free_memory", "1MiB", machine="laptop-asleep")
assert "free memory is not known" in text, text
for size, path, *expected in CASES:
    expect(run("free_memory", size, machine=path), tuple(expected))

# 8030261248 parameters of 16 bits and 131072 bytes per token: 17.6 GiB, which fit on GPUs 6 and 7.
status, text = run("fit", "bf16", "8192", machine="server-8gpu")
lines = text.splitlines()
expect(lines[:3], ["weights: 15.0 GiB", "cache: 1.0 GiB", "with a tenth more: 17.6 GiB"])
expect((status, lines[3], lines[9]), (0, "GPU 0: does not fit", "GPU 6: fits"))
expect(run("fit", "bf16", "8192", machine="laptop-asleep")[0], 1)
expect(run("fit", "bf16")[0], 2)

# Device memory counts as full from 13.6 GiB; the second sample also uses 256 MiB more host memory, so it spills.
MACHINE = ROOT / "tests/bindings/machines/watched.json"
expect(run("watch", "4000000100", machine=MACHINE), (0, "\n".join((
    "host 1.0 GiB, GPU 0 7.0 GiB", "host 1.0 GiB, GPU 0 14.0 GiB", "GPU 0: spilled, first in sample 2",
    "GPU 1: not known whether it spilled", ""))))
expect(run("watch", "4000000999", machine=MACHINE)[0], 1)
expect(run("watch")[0], 2)
status, text = watch_real()
assert status == 0 and re.match(r"(host \d+ MiB\n)+", text), text

# Simulated memory does not change; real memory does.
status, text = run("before_after", machine="server-8gpu")
assert status == 0 and "work: RAM 12 MiB → 12 MiB (+0 MiB)\n" in text and "NVIDIA H100" in text, text
status, text = run("before_after")
growth = re.search(r"RAM \d+ MiB → \d+ MiB \(\+(\d+) MiB\)", text)
assert status == 0 and (text == "RAM +64 MiB or more\n" or growth and int(growth.group(1)) >= 64), text
