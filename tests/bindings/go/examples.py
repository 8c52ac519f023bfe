#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""examples.py FOLDER: runs memory, free_memory, before_after, fit and watch on examples/machines and on the real
machine. What they must print is worked out here from the machine files."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from free_memory import CASES

MACHINES = pathlib.Path(__file__).resolve().parents[3] / "examples/machines"
UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
problems = []


def size(value):
    if value is None or isinstance(value, int):
        return value
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", value).groups()
    return round(float(number) * 2 ** UNITS[unit])


def for_people(count):
    return f"{count >> 20} MiB" if count < 1 << 30 else f"{count / (1 << 30):.1f} GiB"


def usable(device, host):
    """What can be allocated in the first pool, which is the main one in these files and has no budget."""
    if device.get("state") == "asleep" or not device.get("pools") or device.get("partitions"):
        return None
    pool = {key: size(pool) for key, pool in device["pools"][0].items() if key in ("total", "free", "used", "reserved")}
    if device["pools"][0]["kind"] == "unified":
        return size(host["available"])
    if "free" in pool or pool.get("used") is None:
        return pool.get("free")
    return pool["total"] - pool["used"] - pool.get("reserved", 0)


def devices_of(machine):
    for device in machine["devices"]:
        yield device
    for device in machine["devices"]:
        yield from device.get("partitions", [])


def free_memory(machine, wanted):
    """The lines and the exit code of free_memory."""
    best, most = None, 0
    for index, device in enumerate(devices_of(machine)):
        left = usable(device, machine.get("host", {}).get("system", {}))
        if left is None:
            yield f"GPU {index} [{device['name']}]: free memory is not known"
            continue
        verdict = "fits" if left >= wanted else "does not fit"
        yield f"GPU {index} [{device['name']}]: {for_people(left)} free, {verdict}"
        if left >= wanted and left > most:
            best, most = index, left
    yield f"no GPU has {for_people(wanted)} free" if best is None else f"GPU {best} has most"


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


def check_machine(path):
    machine = json.loads(path.read_text())
    own, system = size(machine["host"]["self"]["resident"]), size(machine["host"]["system"]["available"])
    check(f"memory on {path.name}", run("memory", machine=path), (0, (
        f"resident: {own} bytes ({for_people(own)})\navailable: {system} bytes ({for_people(system)})\n"), ""))
    for text in ("8GiB", "60GiB", str(64 << 40)):
        wanted = size(text) if not text.isdigit() else int(text)
        lines = list(free_memory(machine, wanted))
        code = 1 if lines[-1].startswith("no ") else 0
        check(f"free_memory {text} on {path.name}", run("free_memory", text, machine=path),
              (code, "\n".join(lines) + "\n", ""))
    check_before_after(path, machine["devices"][0], round(own / 2 ** 20))
    check_fit(path, list(devices_of(machine)))


def check_fit(path, devices):
    """8030261248 parameters of 4 bits and a tenth more."""
    code, said, _ = run("fit", "i4", "0", machine=path)
    lines = said.splitlines()
    if lines[:3] != ["weights: 3.7 GiB", "cache: 0 MiB", "with a tenth more: 4.1 GiB"] \
            or len(lines) != 3 + len(devices) or (code == 0) != any(line.endswith(": fits") for line in lines):
        problems.append(f"fit on {path.name}: {code}, {said}")


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
    path = MACHINES.parents[1] / "tests/bindings/machines/watched.json"
    lines = ("host 1.0 GiB, GPU 0 7.0 GiB", "host 1.0 GiB, GPU 0 14.0 GiB", "GPU 0: spilled, first in sample 2",
             "GPU 1: not known whether it spilled", "")
    check("watch", run("watch", "4000000100", machine=path), (0, "\n".join(lines), ""))
    check("watch of none", run("watch", "4000000999", machine=path)[0], 1)
    check("watch without a pid", run("watch")[0], 2)
    code, said = watch_real()
    if code or not re.match(r"(host \d+ MiB\n)+", said):
        problems.append(f"watch: {code}, {said}")


def check_before_after(path, device, megabytes):
    code, said, _ = run("before_after", machine=path)
    host, _, second = said.partition("\n")
    wanted = rf"  work: VRAM .*\[{re.escape(device['name'])}\]\n"
    if device.get("state") == "asleep":
        wanted = ""
    if code or not re.fullmatch(rf"  work: RAM {megabytes} MiB . {megabytes} MiB \(\+0 MiB\)", host) \
            or not re.fullmatch(wanted, second):
        problems.append(f"before_after on {path.name}: {code}, {said}")


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
    machines = sorted(MACHINES.glob("*.json"))
    for path in machines:
        check_machine(path)
    for wanted, path, code, lines in CASES:
        check(f"free_memory {wanted} on {path.name}", run("free_memory", wanted, machine=path), (code, lines, ""))
    check_real()
    check_watch()
    print(*problems, sep="\n")
    print(f"{len(machines)} machines, {len(problems)} problems")
    return 1 if problems or not machines else 0


if __name__ == "__main__":
    sys.exit(main())
