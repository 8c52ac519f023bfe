#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""on_machines.py PROGRAM COMMAND...: COMMAND, which is PROGRAM in some language, prints on each machine of
examples/machines what its file determines, or that a value is not known. PROGRAM is `memory`, `first` (the first
program of a page), `first_c` (that in C) or `free_c` (its GPUs alone)."""
import json
import os
import pathlib
import re
import subprocess
import sys

MACHINES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples/machines").glob("*.json"))
assert len(MACHINES) >= 7, "examples/machines"
UNKNOWN = pathlib.Path(__file__).resolve().parent / "machines/unknown.json"
UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}


def states_of(path):
    """The machine as its file begins, and after each of its changes: a program may see either."""
    states = [json.loads(path.read_text(encoding="utf-8"))]
    for change in states[0].get("changes", []):
        states.append(states[-1] | change)
    return states


def size(value):
    if value is None or isinstance(value, int):
        return value
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", value).groups()
    return round(float(number) * 2 ** UNITS[unit])


def for_people(count):
    return f"{count >> 20} MiB" if count < 1 << 30 else f"{count / (1 << 30):.1f} GiB"


def devices_of(machine):
    yield from machine["devices"]
    for device in machine["devices"]:
        yield from device.get("partitions", [])


def free(device):
    """What is free in the first pool, which is the main one in these files; None: not known."""
    if device.get("state") in ("asleep", "lost") or not device.get("pools"):
        return None
    pool = device["pools"][0]
    if "free" in pool or pool.get("used") is None or "total" not in pool:
        return size(pool.get("free"))
    return size(pool["total"]) - size(pool["used"]) - size(pool.get("reserved", 0))


def usable(device, host):
    """What can be allocated there; none of these pools has a budget, and a unified one is the host's."""
    if device.get("partitions"):
        return None
    return size(host["available"]) if device.get("pools", [{}])[0].get("kind") == "unified" else free(device)


def memory(machine):
    own, available = size(machine["host"]["self"]["resident"]), size(machine["host"]["system"]["available"])
    return f"resident: {own} bytes ({for_people(own)})\navailable: {available} bytes ({for_people(available)})\n"


def first(machine):
    lines = [f"this process: {size(machine['host']['self']['resident'])} bytes of RAM"]
    for index, device in enumerate(devices_of(machine)):
        left = free(device)
        lines.append(f"GPU {index} [{device['name']}]: "
                     + ("free memory is not known" if left is None else f"{for_people(left)} free"))
    return "\n".join(lines) + "\n"


def first_c(machine):
    lines = [f"this process: {size(machine['host']['self']['resident'])} bytes of RAM"]
    for index, device in enumerate(devices_of(machine)):
        left = free(device)
        lines.append(f"GPU {index}: " + ("free memory is not known" if left is None else f"{left} bytes free"))
    return "\n".join(lines) + "\n"


def free_c(machine):
    return first_c(machine).split("\n", 1)[1]


def free_memory(machine, wanted):
    """The lines and the exit status of free_memory."""
    lines, best, most = [], None, 0
    for index, device in enumerate(devices_of(machine)):
        left = usable(device, machine["host"]["system"])
        if left is None:
            lines.append(f"GPU {index} [{device['name']}]: free memory is not known")
            continue
        verdict = "fits" if left >= wanted else "does not fit"
        lines.append(f"GPU {index} [{device['name']}]: {for_people(left)} free, {verdict}")
        if left >= wanted and left > most:
            best, most = index, left
    lines.append(f"no GPU has {for_people(wanted)} free" if best is None else f"GPU {best} has most")
    return "\n".join(lines) + "\n", 1 if best is None else 0


def fit(machine, needed):
    """The lines and the exit status of fit: a GPU's own limit is what can be allocated there."""
    verdicts = []
    for device in devices_of(machine):
        left = usable(device, machine["host"]["system"])
        verdicts.append("not known" if left is None else "fits" if left >= needed else "does not fit")
    return "".join(f"GPU {i}: {verdict}\n" for i, verdict in enumerate(verdicts)), 0 if "fits" in verdicts else 1


def before_after(machine):
    """What before_after prints, where nothing changes and no device has memory of the caller."""
    resident = round(size(machine["host"]["self"]["resident"]) / 2 ** 20)
    device = machine["devices"][0]
    lines = f"  work: RAM {resident} MiB → {resident} MiB (+0 MiB)\n"
    if device.get("state") == "asleep":
        return lines
    total = size(device["pools"][0].get("total", machine["host"]["system"]["total"])) >> 20
    return f"{lines}  work: VRAM 0 MiB → 0 MiB (+0 MiB / {total} MiB) [per-process] [{device['name']}]\n"


def examples_of(machine):
    """(program, arguments, status, lines)"""
    yield "memory", [], 0, memory(machine)
    lines, status = fit(machine, -(-8030261248 // 2 * 11 // 10))  # parameters of 4 bits and a tenth more
    yield "fit", ["i4", "0"], status, f"weights: 3.7 GiB\ncache: 0 MiB\nwith a tenth more: 4.1 GiB\n{lines}"
    for text in ("8GiB", "60GiB", str(64 << 40)):
        lines, status = free_memory(machine, int(text) if text.isdigit() else size(text))
        yield "free_memory", [text], status, lines


def problems_of_examples(run):
    """What is wrong with the examples of a language. run(program, arguments, machine) is (status, output, errors)."""
    for program, arguments, pattern in (("memory", [], "resident: not known\navailable: not known\n"),
                                        ("before_after", [], "RAM is not known\n"),
                                        ("watch", ["4000000100"], "(host not known\n)+")):
        _, found, errors = run(program, arguments, UNKNOWN)
        if errors or not re.fullmatch(pattern, found):
            yield f"{program} on {UNKNOWN.name}: {found}{errors}"
    for path in MACHINES:
        states = states_of(path)
        for cases in zip(*map(examples_of, states)):
            program, arguments = cases[0][:2]
            found = run(program, arguments, path)
            if found not in [(status, lines, "") for _, _, status, lines in cases]:
                yield f"{program} {' '.join(arguments)} on {path.name}: {found}, not {cases}"
        found = run("before_after", [], path)
        if found != (0, before_after(states[0]), ""):
            yield f"before_after on {path.name}: {found}, not {before_after(states[0])}"


def problems(expected, command):
    """What is wrong with a program that prints expected(machine)."""
    for path in MACHINES:
        done = subprocess.run(command, env={**os.environ, "HMN_SIMULATION": str(path)}, capture_output=True,
                              encoding="utf-8", timeout=60)
        lines = [expected(machine) for machine in states_of(path)]
        if (done.returncode, done.stderr) != (0, "") or done.stdout.replace("\r\n", "\n") not in lines:
            yield (f"{command} on {path.name}: status {done.returncode}\n{done.stdout}{done.stderr}instead of\n"
                   f"{lines[0]}")


def failures(command, allowed=r"(?!)", **options):
    """What is wrong with a block of a page that does not end with status 0 on each machine, or with an error of the
    library that it does not catch: `allowed` in what is written to stderr."""
    for path in MACHINES:
        done = subprocess.run(command, env={**os.environ, "HMN_SIMULATION": str(path)}, capture_output=True,
                              encoding="utf-8", timeout=60, **options)
        if done.returncode and not re.search(allowed, done.stderr):
            yield f"{command} on {path.name}: status {done.returncode}: {done.stdout}{done.stderr}"


def program_of(code):
    """Which program a block of a page is; None: none of these."""
    if "hmn_tracker" in code:
        return None
    if "hmn_context_create" in code:
        return first_c if "hmn_process_memory" in code else free_c
    return memory if "available" in code else first


def main():
    found = list(problems({"memory": memory, "first": first, "first_c": first_c, "free_c": free_c}[sys.argv[1]], sys.argv[2:]))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
