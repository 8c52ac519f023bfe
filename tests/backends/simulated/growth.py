# SPDX-License-Identifier: MIT OR Apache-2.0
"""growth.py GROWTH: the instructions that it takes to read a machine file and take a snapshot of it grow no faster than
the file, as valgrind counts them. Time is no measure on a busy machine; instructions are the same each time."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
SMALL = 250
LIMIT = 2.5  # times the instructions for twice the file; 4 where each element is compared with all others
POOL = [{"kind": "vram", "total": "16GiB"}]


def gpu(i, **keys):
    return {"name": f"GPU {i}"} | keys


def address(i):
    return f"{i >> 13:04x}:{i >> 5 & 255:02x}:{i & 31:02x}.0"


def changed(n, patch):
    return {"devices": [gpu(0, pools=POOL, processes=[])], "changes": [{"at_reading": 1, "patch": [patch(i)
                                                                        for i in range(n)]}]}


# What a machine file can have many of.
MACHINES = {
    "devices": lambda n: {"devices": [gpu(i) for i in range(n)]},
    "uuids": lambda n: {"devices": [gpu(i, uuid=f"GPU-{n - i}", pci_bus_id=address(i), driver_index=i, render_minor=n - i)
                                    for i in range(n)]},
    "partitions": lambda n: {"devices": [gpu(0, partitions=[gpu(i) for i in range(n)])]},
    "pools": lambda n: {"devices": [gpu(i, pools=POOL) for i in range(n)]},
    "processes": lambda n: {"devices": [gpu(0, processes=[{"pid": n - i, "name": "x", "used": i} for i in range(n)])]},
    "processes without values": lambda n: {"devices": [gpu(0, processes=[{"pid": i + 1} for i in range(n)])]},
    "processes of devices": lambda n: {"devices": [gpu(i, processes=[{"pid": 7, "used": i}]) for i in range(n)]},
    "host processes": lambda n: {"devices": [gpu(0)], "host": {"processes": [{"pid": n - i, "resident": i}
                                                                             for i in range(n)]}},
    "metrics": lambda n: {"devices": [gpu(0, metrics=[{"metric": "busy", "instance": i, "value": 1}
                                                      for i in range(n)])]},
    "groups": lambda n: {"devices": [gpu(0, pci_bus_id=address(0), pools=POOL, groups=[
        {"name": f"g{i}", "used": 1 + i} for i in range(n)])]},
    "groups of devices": lambda n: {"devices": [gpu(i, pci_bus_id=address(i), pools=POOL, groups=[
        {"name": "g", "used": 1 + i}]) for i in range(n)]},
    "failures": lambda n: {"devices": [gpu(i, failures=[{"call": "pools", "status": "backend", "message": f"no {i}"}])
                                       for i in range(n)]},
    "a patch": lambda n: changed(n, lambda i: {"op": "add", "path": "/devices/0/processes/-", "value": {"pid": i + 1}}),
    "a patch that replaces": lambda n: changed(n, lambda i: {"op": "replace", "path": "/devices/0/pools/0/total",
                                                             "value": i}),
    "changes": lambda n: {"devices": [gpu(0)], "changes": [{"at_reading": 2 + i, "patch": [
        {"op": "replace", "path": "/devices/0/name", "value": f"GPU {i}"}]} for i in range(n // 4)]},
}


def instructions(machine, folder):
    path = pathlib.Path(folder) / "machine.json"
    path.write_text(json.dumps({"format": 1} | machine))
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, path],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"growth.py: {done.stderr}")
    return int(re.search(r"Collected *: *(\d+)", done.stderr)[1])


def main():
    if shutil.which("valgrind") is None:
        print("growth.py: skipped: there is no valgrind")
        sys.exit(77)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        empty = instructions({"devices": []}, folder)
        for name, machine in MACHINES.items():
            counts = [instructions(machine(n), folder) - empty for n in (SMALL, 2 * SMALL, 4 * SMALL)]
            ratios = [b / a for a, b in zip(counts, counts[1:])]
            print(f"{name}: {counts[0] // SMALL} instructions each, × {ratios[0]:.2f}, × {ratios[1]:.2f}", flush=True)
            if ratios[1] > LIMIT:
                failed.append(name)
    if failed:
        sys.exit(f"growth.py: faster than the file grow: {', '.join(failed)}")


main()
