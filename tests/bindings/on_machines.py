#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""on_machines.py PROGRAM COMMAND...: COMMAND, which is PROGRAM in some language, prints on each machine of
examples/machines what its file determines, or that a value is not known. PROGRAM is `memory`, `first` (the first
program of a page), `first_c` (the same in C) or `free_c` (only its lines of GPUs)."""
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


def read_states(path):
    """Returns the machine in its first state and after each change: a program may see any of them."""
    states = [json.loads(path.read_text(encoding="utf-8"))]
    for change in states[0].get("changes", []):
        states.append(states[-1] | change)
    return states


def parse_size(value):
    if value is None or isinstance(value, int):
        return value
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", value).groups()
    return round(float(number) * 2 ** UNITS[unit])


def format_size(count):
    return f"{count >> 20} MiB" if count < 1 << 30 else f"{count / (1 << 30):.1f} GiB"


def list_devices(machine):
    yield from machine["devices"]
    for device in machine["devices"]:
        yield from device.get("partitions", [])


def find_free_bytes(device):
    """Returns the free bytes of the first pool, the main one in these files; None: not known."""
    if device.get("state") in ("asleep", "lost") or not device.get("pools"):
        return None
    pool = device["pools"][0]
    if "free" in pool or pool.get("used") is None or "total" not in pool:
        return parse_size(pool.get("free"))
    return parse_size(pool["total"]) - parse_size(pool["used"]) - parse_size(pool.get("reserved", 0))


def find_usable_bytes(device, host):
    """Returns the bytes that can be allocated; no pool has a budget, and a unified pool is host memory."""
    if device.get("partitions"):
        return None
    is_unified = device.get("pools", [{}])[0].get("kind") == "unified"
    return parse_size(host["available"]) if is_unified else find_free_bytes(device)


def render_memory(machine):
    resident = parse_size(machine["host"]["self"]["resident"])
    available = parse_size(machine["host"]["system"]["available"])
    return (f"resident: {resident} bytes ({format_size(resident)})\n"
            f"available: {available} bytes ({format_size(available)})\n")


def render_first(machine):
    lines = [f"this process: {parse_size(machine['host']['self']['resident'])} bytes of RAM"]
    for index, device in enumerate(list_devices(machine)):
        free_bytes = find_free_bytes(device)
        lines.append(f"GPU {index} [{device['name']}]: "
                     + ("free memory is not known" if free_bytes is None else f"{format_size(free_bytes)} free"))
    return "\n".join(lines) + "\n"


def render_first_c(machine):
    lines = [f"this process: {parse_size(machine['host']['self']['resident'])} bytes of RAM"]
    for index, device in enumerate(list_devices(machine)):
        free_bytes = find_free_bytes(device)
        lines.append(f"GPU {index}: "
                     + ("free memory is not known" if free_bytes is None else f"{free_bytes} bytes free"))
    return "\n".join(lines) + "\n"


def render_free_c(machine):
    return render_first_c(machine).split("\n", 1)[1]


def render_free_memory(machine, size):
    """Returns the lines and the exit status of free_memory."""
    lines, best, largest = [], None, 0
    for index, device in enumerate(list_devices(machine)):
        free_bytes = find_usable_bytes(device, machine["host"]["system"])
        if free_bytes is None:
            lines.append(f"GPU {index} [{device['name']}]: free memory is not known")
            continue
        verdict = "fits" if free_bytes >= size else "does not fit"
        lines.append(f"GPU {index} [{device['name']}]: {format_size(free_bytes)} free, {verdict}")
        if free_bytes >= size and free_bytes > largest:
            best, largest = index, free_bytes
    lines.append(f"no GPU has {format_size(size)} free" if best is None else f"GPU {best} has most")
    return "\n".join(lines) + "\n", 1 if best is None else 0


def render_fit(machine, size):
    """Returns the lines and the exit status of fit; the limit of a GPU is what can be allocated on it."""
    verdicts = []
    for device in list_devices(machine):
        free_bytes = find_usable_bytes(device, machine["host"]["system"])
        verdicts.append("not known" if free_bytes is None else "fits" if free_bytes >= size else "does not fit")
    return "".join(f"GPU {i}: {verdict}\n" for i, verdict in enumerate(verdicts)), 0 if "fits" in verdicts else 1


def render_before_after(machine):
    """Returns the output of before_after where nothing changes and the caller uses no device memory."""
    resident = round(parse_size(machine["host"]["self"]["resident"]) / 2 ** 20)
    device = machine["devices"][0]
    lines = f"  work: RAM {resident} MiB → {resident} MiB (+0 MiB)\n"
    if device.get("state") == "asleep":
        return lines
    total = parse_size(device["pools"][0].get("total", machine["host"]["system"]["total"])) >> 20
    return f"{lines}  work: VRAM 0 MiB → 0 MiB (+0 MiB / {total} MiB) [per-process] [{device['name']}]\n"


def list_examples(machine):
    """Yields (program, arguments, status, lines)."""
    yield "memory", [], 0, render_memory(machine)
    lines, status = render_fit(machine, -(-8030261248 // 2 * 11 // 10))  # parameters of 4 bits and a tenth more
    yield "fit", ["i4", "0"], status, f"weights: 3.7 GiB\ncache: 0 MiB\nwith a tenth more: 4.1 GiB\n{lines}"
    for text in ("8GiB", "60GiB", str(64 << 40)):
        lines, status = render_free_memory(machine, int(text) if text.isdigit() else parse_size(text))
        yield "free_memory", [text], status, lines


def find_example_problems(run):
    """Yields what is wrong with the examples of a language; run(program, arguments, machine) returns
    (status, output, errors)."""
    for program, arguments, pattern in (("memory", [], "resident: not known\navailable: not known\n"),
                                        ("before_after", [], "RAM is not known\n"),
                                        ("watch", ["4000000100"], "(host not known\n)+")):
        _, output, errors = run(program, arguments, UNKNOWN)
        if errors or not re.fullmatch(pattern, output):
            yield f"{program} on {UNKNOWN.name}: {output}{errors}"
    for path in MACHINES:
        states = read_states(path)
        for cases in zip(*map(list_examples, states)):
            program, arguments = cases[0][:2]
            answer = run(program, arguments, path)
            if answer not in [(status, lines, "") for _, _, status, lines in cases]:
                yield f"{program} {' '.join(arguments)} on {path.name}: {answer}, not {cases}"
        answer = run("before_after", [], path)
        if answer != (0, render_before_after(states[0]), ""):
            yield f"before_after on {path.name}: {answer}, not {render_before_after(states[0])}"


def find_problems(render, command):
    """Yields what is wrong with a program that should print render(machine)."""
    for path in MACHINES:
        result = subprocess.run(command, env={**os.environ, "HMN_SIMULATION": str(path)}, capture_output=True,
                                encoding="utf-8", timeout=60)
        lines = [render(machine) for machine in read_states(path)]
        if (result.returncode, result.stderr) != (0, "") or result.stdout.replace("\r\n", "\n") not in lines:
            yield (f"{command} on {path.name}: status {result.returncode}\n{result.stdout}{result.stderr}instead of\n"
                   f"{lines[0]}")


def find_failures(command, allowed=r"(?!)", **options):
    """Yields what is wrong with a page's block that fails on some machine; an uncaught library error that matches
    `allowed` on stderr is accepted."""
    for path in MACHINES:
        result = subprocess.run(command, env={**os.environ, "HMN_SIMULATION": str(path)}, capture_output=True,
                                encoding="utf-8", timeout=60, **options)
        if result.returncode and not re.search(allowed, result.stderr):
            yield f"{command} on {path.name}: status {result.returncode}: {result.stdout}{result.stderr}"


def find_program(code):
    """Returns the renderer for the program in a page's block, or None."""
    if "hmn_tracker" in code:
        return None
    if "hmn_context_create" in code:
        return render_first_c if "hmn_process_memory" in code else render_free_c
    return render_memory if "available" in code else render_first


def main():
    renderers = {"memory": render_memory, "first": render_first, "first_c": render_first_c, "free_c": render_free_c}
    problems = list(find_problems(renderers[sys.argv[1]], sys.argv[2:]))
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
