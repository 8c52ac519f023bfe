#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py INTERPRETER ROOT: the examples on machines whose files determine what must come out."""
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
    """(status, output)"""
    environment = dict(os.environ)
    if machine:
        environment["HMN_SIMULATION"] = str(machine if isinstance(machine, pathlib.Path)
                                            else ROOT / f"examples/machines/{machine}.json")
    ran = subprocess.run([LUA, str(ROOT / f"examples/lua/{example}.lua"), *arguments], env=environment,
                         capture_output=True, text=True, timeout=60, check=False)
    assert not ran.stderr or ran.returncode == 2, ran.stderr
    return ran.returncode, ran.stdout


def watch_real():
    """Status and output of watch for a process of this machine that ends after the first line."""
    with subprocess.Popen(["sleep", "60"]) as watched:
        with subprocess.Popen([LUA, str(ROOT / "examples/lua/watch.lua"), str(watched.pid)], stdout=subprocess.PIPE, encoding="utf-8") as program:
            first = program.stdout.readline()
            watched.kill()
            said = first + program.stdout.read()
    return program.returncode, said


def expect(found, wanted):
    assert found == wanted, f"{found}\nnot\n{wanted}"


expect(list(on_machines.problems_of_examples(lambda program, arguments, machine:
                                             (*run(program, *arguments, machine=machine), ""))), [])

# 12 MiB resident and 1688 GiB available in server-8gpu.json.
expect(run("memory", machine="server-8gpu"),
       (0, f"resident: {12 << 20} bytes (12 MiB)\navailable: {1688 << 30} bytes (1688.0 GiB)\n"))
status, text = run("memory")
assert status == 0 and re.fullmatch(r"resident: \d+ bytes \(\d+ MiB\)\navailable: \d+ bytes \(.*\)\n", text), text

# Of 81559 MiB with 551 reserved, GPUs 6 and 7 are free; the first of the largest has most.
status, text = run("free_memory", "60GiB", machine="server-8gpu")
lines = text.splitlines()
expect((status, len(lines)), (0, 9))
expect(lines[0], "GPU 0 [NVIDIA H100 80GB HBM3]: 4.7 GiB free, does not fit")
expect(lines[6], "GPU 6 [NVIDIA H100 80GB HBM3]: 79.1 GiB free, fits")
expect(lines[8], "GPU 6 has most")
expect(run("free_memory", "80GiB", machine="server-8gpu")[1].splitlines()[8], "no GPU has 80.0 GiB free")
expect(run("free_memory", "80GiB", machine="server-8gpu")[0], 1)
expect(run("free_memory", str(5 << 30), machine="server-8gpu")[0], 0)
for wrong in ("", "8GB", "x", "-1", "1.2.3GiB"):
    expect(run("free_memory", wrong, machine="server-8gpu")[0], 2)
status, text = run("free_memory", "1MiB", machine="laptop-asleep")
assert "free memory is not known" in text, text
for size, path, *expected in CASES:
    expect(run("free_memory", size, machine=path), tuple(expected))

# 8030261248 parameters of 16 bits and 131072 bytes for each token: 17.6 GiB, which GPUs 6 and 7 have.
status, text = run("fit", "bf16", "8192", machine="server-8gpu")
lines = text.splitlines()
expect(lines[:3], ["weights: 15.0 GiB", "cache: 1.0 GiB", "with a tenth more: 17.6 GiB"])
expect((status, lines[3], lines[9]), (0, "GPU 0: does not fit", "GPU 6: fits"))
expect(run("fit", "bf16", "8192", machine="laptop-asleep")[0], 1)
expect(run("fit", "bf16")[0], 2)

# Device memory full from 13.6 GiB on, and 256 MiB more of the host's: the second sample spills.
MACHINE = ROOT / "tests/bindings/machines/watched.json"
expect(run("watch", "4000000100", machine=MACHINE), (0, "\n".join((
    "host 1.0 GiB, GPU 0 7.0 GiB", "host 1.0 GiB, GPU 0 14.0 GiB", "GPU 0: spilled, first in sample 2",
    "GPU 1: not known whether it spilled", ""))))
expect(run("watch", "4000000999", machine=MACHINE)[0], 1)
expect(run("watch")[0], 2)
status, text = watch_real()
assert status == 0 and re.match(r"(host \d+ MiB\n)+", text), text

# Simulated memory does not change; the real one does.
status, text = run("before_after", machine="server-8gpu")
assert status == 0 and "work: RAM 12 MiB → 12 MiB (+0 MiB)\n" in text and "NVIDIA H100" in text, text
status, text = run("before_after")
risen = re.search(r"RAM \d+ MiB → \d+ MiB \(\+(\d+) MiB\)", text)
assert status == 0 and (text == "RAM +64 MiB or more\n" or risen and int(risen.group(1)) >= 64), text
