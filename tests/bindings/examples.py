#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py COMMAND...: the five example programs of a language print what they should.

COMMAND starts a program of that language; `{}` in one of its words is replaced by memory,
free_memory, before_after, fit or watch.
"""
import os
import pathlib
import re
import subprocess
import sys

import free_memory
import on_machines

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/machines"
MACHINES = ROOT / "tests/bindings/machines"
RTX = "GPU 0 [NVIDIA GeForce RTX 4090]"

# Program, arguments, machine, exit status, lines. 24564 MiB - 498 - 13911 = 10155 MiB = 9.917 GiB free.
CASES = [
    *(("free_memory", [size], *expected) for size, *expected in free_memory.CASES),
    ("memory", [], EXAMPLES / "workstation.json", 0,
     "resident: 12058624 bytes (11 MiB)\navailable: 44291850240 bytes (41.2 GiB)\n"),
    ("free_memory", ["8GiB"], EXAMPLES / "workstation.json", 0,
     f"{RTX}: 9.9 GiB free, fits\nGPU 0 has most\n"),
    ("free_memory", ["16GiB"], EXAMPLES / "workstation.json", 1,
     f"{RTX}: 9.9 GiB free, does not fit\nno GPU has 16.0 GiB free\n"),
    ("free_memory", [str(10155 << 20)], EXAMPLES / "workstation.json", 0,
     f"{RTX}: 9.9 GiB free, fits\nGPU 0 has most\n"),
    ("free_memory", [str((10155 << 20) + 1)], EXAMPLES / "workstation.json", 1,
     f"{RTX}: 9.9 GiB free, does not fit\nno GPU has 9.9 GiB free\n"),
    ("free_memory", ["1GiB"], MACHINES / "nothing.json", 1,
     "GPU 0: free memory is not known\nGPU 1 [A name alone]: free memory is not known\n"
     "GPU 2: free memory is not known\nGPU 3: free memory is not known\nGPU 4: free memory is not known\n"
     "no GPU has 1.0 GiB free\n"),
    ("free_memory", ["1GiB"], MACHINES / "no_gpu.json", 1, "no GPU has 1.0 GiB free\n"),
    ("before_after", [], MACHINES / "changes.json", 0,
     "  work: RAM 12 MiB → 112 MiB (+100 MiB)\n"
     "  work: VRAM 100 MiB → 600 MiB (+500 MiB / 16384 MiB) [per-process] [Changing GPU]\n"),
    ("before_after", [], MACHINES / "no_gpu.json", 0, "RAM +64 MiB or more\n"),
    # 8030261248 parameters of 4 and of 16 bits; 2 * 32 * 8 * 128 * 2 = 131072 bytes for each token.
    ("fit", ["i4", "8192"], EXAMPLES / "workstation.json", 0,
     "weights: 3.7 GiB\ncache: 1.0 GiB\nwith a tenth more: 5.2 GiB\nGPU 0: fits\n"),
    ("fit", ["torch.bfloat16", "8192"], EXAMPLES / "workstation.json", 1,
     "weights: 15.0 GiB\ncache: 1.0 GiB\nwith a tenth more: 17.6 GiB\nGPU 0: does not fit\n"),
    ("fit", ["i4", "0"], MACHINES / "nothing.json", 1,
     "weights: 3.7 GiB\ncache: 0 MiB\nwith a tenth more: 4.1 GiB\n" + "".join(f"GPU {i}: not known\n" for i in range(5))),
    # Device memory counts as full from 13.6 GiB; the second sample also uses 256 MiB more host memory, so it spills.
    ("watch", ["4000000100"], MACHINES / "watched.json", 0,
     "host 1.0 GiB, GPU 0 7.0 GiB\nhost 1.0 GiB, GPU 0 14.0 GiB\nGPU 0: spilled, first in sample 2\n"
     "GPU 1: not known whether it spilled\n"),
    ("watch", ["4000000999"], MACHINES / "watched.json", 1, "the machine file has no process 4000000999\n"),
]


def run(command, program, arguments, machine):
    words = [word.replace("{}", program) for word in command] + arguments
    environment = {**os.environ, "HMN_SIMULATION": str(machine)}
    return subprocess.run(words, env=environment, capture_output=True, encoding="utf-8", timeout=60)


def watch_real(command):
    """Returns status and output of watch for a real process that ends after the first line."""
    words = [word.replace("{}", "watch") for word in command]
    environment = {**os.environ, "HMN_SIMULATION": ""}
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        with subprocess.Popen([*words, str(sleeper.pid)], stdout=subprocess.PIPE, encoding="utf-8",
                              env=environment) as program:
            first_line = program.stdout.readline()
            sleeper.kill()
            output = first_line + program.stdout.read()
    return program.returncode, output


def find_problems(command):
    for program, arguments, machine, status, lines in CASES:
        result = run(command, program, arguments, machine)
        output = result.stdout.replace("\r\n", "\n")
        if (result.returncode, output) != (status, lines):
            yield (f"{program} {' '.join(arguments)} on {machine.name}: status {result.returncode}, not {status}, and\n"
                   f"{output}instead of\n{lines}{result.stderr}")

    def run_on_machine(program, arguments, machine):
        result = run(command, program, arguments, machine)
        return result.returncode, result.stdout.replace("\r\n", "\n"), result.stderr

    yield from on_machines.find_example_problems(run_on_machine)
    result = run(command, "memory", [], "")
    if not re.fullmatch(r"resident: \d{6,} bytes \(\d+ MiB\)\navailable: \d{6,} bytes \(\d.* [GM]iB\)\n",
                        result.stdout.replace("\r\n", "\n")):
        yield f"memory on the real machine: {result.stdout}{result.stderr}"
    status, output = watch_real(command)
    if status or not re.fullmatch(r"(host \d+ MiB\n)+(GPU \d+: .*spill.*\n)*", output.replace("\r\n", "\n")):
        yield f"watch on the real machine: {status}, {output}"


def main():
    problems = list(find_problems(sys.argv[1:]))
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
