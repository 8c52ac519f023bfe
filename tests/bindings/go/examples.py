#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py FOLDER: runs memory, free_memory, before_after, fit and watch on examples/machines and on the real
machine."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import on_machines
from free_memory import CASES

problems = []


def run(program, *arguments, machine=None):
    environment = {key: value for key, value in os.environ.items() if key != "HMN_SIMULATION"}
    if machine:
        environment["HMN_SIMULATION"] = str(machine)
    result = subprocess.run([f"{sys.argv[1]}/{program}", *arguments], env=environment, capture_output=True, text=True,
                            timeout=60)
    return result.returncode, result.stdout, result.stderr


def check(label, actual, expected):
    if actual != expected:
        problems.append(f"{label}:\n  {actual}\n  not\n  {expected}")


def watch_real():
    """Returns status and output of watch for a real process that ends after the first line."""
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        with subprocess.Popen([f"{sys.argv[1]}/watch", str(sleeper.pid)], stdout=subprocess.PIPE,
                              encoding="utf-8") as program:
            first_line = program.stdout.readline()
            sleeper.kill()
            output = first_line + program.stdout.read()
    return program.returncode, output


def check_watch():
    """Device memory counts as full from 13.6 GiB; the second sample uses 256 MiB more host memory, so it spills."""
    path = pathlib.Path(__file__).resolve().parents[1] / "machines/watched.json"
    lines = ("host 1.0 GiB, GPU 0 7.0 GiB", "host 1.0 GiB, GPU 0 14.0 GiB", "GPU 0: spilled, first in sample 2",
             "GPU 1: not known whether it spilled", "")
    check("watch", run("watch", "4000000100", machine=path), (0, "\n".join(lines), ""))
    check("watch of an unknown pid", run("watch", "4000000999", machine=path)[0], 1)
    check("watch without a pid", run("watch")[0], 2)
    code, output = watch_real()
    if code or not re.match(r"(host \d+ MiB\n)+", output):
        problems.append(f"watch: {code}, {output}")


def check_real():
    code, output, _ = run("memory")
    pages = re.fullmatch(r"resident: (\d+) bytes \(\d+ MiB\)\navailable: \d+ bytes \([\d.]+ .iB\)\n", output)
    if code or not pages or not 1 << 20 < int(pages[1]) < 1 << 30:
        problems.append(f"memory: {code}, {output}")
    _, output, _ = run("before_after")
    if output != "RAM +64 MiB or more\n" and "work: RAM" not in output:
        problems.append(f"before_after: {output}")
    for arguments in ((), ("8GB",), ("-1",), ("99999999999TiB",)):
        code, output, errors = run("free_memory", *arguments)
        if code != 2 or output or not errors:
            problems.append(f"free_memory {arguments}: {code}, {output}, {errors}")
    code, _, errors = run("memory", machine="/nowhere/machine.json")
    if code != 2 or "HMN_E_NO_SOURCE" not in errors:
        problems.append(f"memory without its machine: {code}, {errors}")


def main():
    problems.extend(on_machines.find_example_problems(lambda program, arguments, machine:
                                                      run(program, *arguments, machine=machine)))
    for size, path, code, lines in CASES:
        check(f"free_memory {size} on {path.name}", run("free_memory", size, machine=path), (code, lines, ""))
    check_real()
    check_watch()
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
