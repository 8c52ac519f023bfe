# SPDX-License-Identifier: MIT OR Apache-2.0
"""growth.py GROWTH [optimized]: the instructions that it takes to read a machine file and take a snapshot of it grow no faster than
the file, as valgrind counts them. Time is no measure on a busy machine; instructions are the same each time. An optimized program also reads each large file in few times the time of Python's json.loads."""
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
SMALL = 250
MANY = 20_000  # where moving all elements for each one outweighs the reading of one
LIMIT = 2.5  # times the instructions for twice the file; 4 where each element is compared with all others
POOL = [{"kind": "vram", "total": "16GiB"}]


def gpu(i, **keys):
    return {"name": f"GPU {i}"} | keys


def address(i):
    return f"{i >> 13:04x}:{i >> 5 & 255:02x}:{i & 31:02x}.0"


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
    "changes": lambda n: {"devices": [gpu(0)], "changes": [{"at_reading": 2 + i, "devices": [gpu(i)]}
                                                           for i in range(n // 4)]},
}

# What has many in real files: a block of memory is moved in few instructions, which only a long one shows.
LONG = {
    "devices": lambda n: {"devices": [gpu(i) for i in range(n)]},
    "addresses": lambda n: {"devices": [{"pci_bus_id": address(n - i)} for i in range(n)]},
    "recorded files": lambda n: {"devices": [], "recording": {"format": 1, "files": [
        {"path": f"/sys/{n - i:08}", "text": "1"} for i in range(n)]}},
}

# Large files. The promise is 3 times json.loads; other work on the machine slows the two unequally.
LARGE = {
    "100,000 names": lambda: {"devices": [gpu(i) for i in range(100_000)]},
    "100,000 uuids": lambda: {"devices": [{"uuid": f"GPU-{i:08}-2222-3333-4444-555555555555"} for i in range(100_000)]},
    "100,000 addresses": lambda: {"devices": [{"pci_bus_id": address(i)} for i in range(100_000)]},
    "90,000 devices": lambda: {"devices": [gpu(i, uuid=f"GPU-{i}", pci_bus_id=address(i), pools=POOL)
                                           for i in range(90_000)]},
    "300,000 processes": lambda: {"devices": [gpu(0, processes=[{"pid": i + 1, "used": i} for i in range(300_000)])]},
    "80,000 recorded files": lambda: LONG["recorded files"](80_000),
}
LARGEST_RATIO = 4
TRIES = 7


# Prints the processor time, with memory that the system has yet to hand out, as for our program.
LOADS = """
import json, sys, time
text = open(sys.argv[1]).read()
begun = time.process_time()
json.loads(text)
print(time.process_time() - begun)
"""


def seconds_of_ours(path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, path, "read"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_of_loads(path):
    return float(subprocess.run([sys.executable, "-c", LOADS, path], capture_output=True, check=True).stdout)


def is_slow(name, machine, folder):
    path = pathlib.Path(folder) / "machine.json"
    path.write_text(json.dumps({"format": 1} | machine))
    ours = min(seconds_of_ours(path) for _ in range(TRIES))
    theirs = min(seconds_of_loads(path) for _ in range(TRIES))
    print(f"{name}: {ours:.2f} s, json.loads {theirs:.2f} s, × {ours / theirs:.2f}", flush=True)
    return ours > LARGEST_RATIO * theirs


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
        for first, name, machine in (*((SMALL, *each) for each in MACHINES.items()),
                                     *((MANY, *each) for each in LONG.items())):
            counts = [instructions(machine(n), folder) - empty for n in (first, 2 * first, 4 * first)]
            ratios = [b / a for a, b in zip(counts, counts[1:])]
            print(f"{first} {name}: {counts[0] // first} instructions each, × {ratios[0]:.2f}, × {ratios[1]:.2f}",
                  flush=True)
            if ratios[1] > LIMIT:
                failed.append(name)
        if "optimized" in sys.argv:
            slow = [name for name, machine in LARGE.items() if is_slow(name, machine(), folder)]
            if slow:
                sys.exit(f"growth.py: slower than {LARGEST_RATIO} × json.loads: {', '.join(slow)}")
    if failed:
        sys.exit(f"growth.py: faster than the file grow: {', '.join(failed)}")


main()
