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
    done = subprocess.run([f"{sys.argv[1]}/{program}", *arguments], env=environment, capture_output=True, text=True,
                          timeout=60)
    return done.returncode, done.stdout, done.stderr


def check(what, got, wanted):
    if got != wanted:
        problems.append(f"{what}:\n  {got}\n  not\n  {wanted}")


def watch_real():
    """Status and output of watch for a process of this machine that ends after the first line."""
    with subprocess.Popen(["sleep", "60"]) as watched:
        with subprocess.Popen([f"{sys.argv[1]}/watch", str(watched.pid)], stdout=subprocess.PIPE, encoding="utf-8") as program:
            first = program.stdout.readline()
            watched.kill()
            said = first + program.stdout.read()
    return program.returncode, said


def check_watch():
    """Device memory full from 13.6 GiB on, and 256 MiB more of the host's: the second sample spills."""
    path = pathlib.Path(__file__).resolve().parents[1] / "machines/watched.json"
    lines = ("host 1.0 GiB, GPU 0 7.0 GiB", "host 1.0 GiB, GPU 0 14.0 GiB", "GPU 0: spilled, first in sample 2",
             "GPU 1: not known whether it spilled", "")
    check("watch", run("watch", "4000000100", machine=path), (0, "\n".join(lines), ""))
    check("watch of none", run("watch", "4000000999", machine=path)[0], 1)
    check("watch without a pid", run("watch")[0], 2)
    code, said = watch_real()
    if code or not re.match(r"(host \d+ MiB\n)+", said):
        problems.append(f"watch: {code}, {said}")


def check_real():
    code, said, _ = run("memory")
    pages = re.fullmatch(r"resident: (\d+) bytes \(\d+ MiB\)\navailable: \d+ bytes \([\d.]+ .iB\)\n", said)
    if code or not pages or not 1 << 20 < int(pages[1]) < 1 << 30:
        problems.append(f"memory: {code}, {said}")
    _, said, _ = run("before_after")
    if said != "RAM +64 MiB or more\n" and "work: RAM" not in said:
        problems.append(f"before_after: {said}")
    for arguments in ((), ("8GB",), ("-1",), ("99999999999TiB",)):
        code, said, complaint = run("free_memory", *arguments)
        if code != 2 or said or not complaint:
            problems.append(f"free_memory {arguments}: {code}, {said}, {complaint}")
    code, _, complaint = run("memory", machine="/nowhere/machine.json")
    if code != 2 or "HMN_E_NO_SOURCE" not in complaint:
        problems.append(f"memory without its machine: {code}, {complaint}")


def main():
    problems.extend(on_machines.problems_of_examples(lambda program, arguments, machine:
                                                     run(program, *arguments, machine=machine)))
    for wanted, path, code, lines in CASES:
        check(f"free_memory {wanted} on {path.name}", run("free_memory", wanted, machine=path), (code, lines, ""))
    check_real()
    check_watch()
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
