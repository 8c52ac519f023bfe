# SPDX-License-Identifier: MIT OR Apache-2.0
"""bench.py MACHINES: the time of a snapshot copied whole, per object that comes of it, compared with a bare
call through the same binding. MACHINES is the folder of eight.json and its smaller kin."""
import gc
import pathlib
import sys
import time

from hypomnesis import Collect, Context, Place, _raw as raw
from hypomnesis._snapshot import make_snapshot

ALL = (Collect.MEMORY | Collect.SYSTEM | Collect.POOLS | Collect.SELF | Collect.PROCESSES |
       Collect.TELEMETRY)
FILES = ("eight_16.json", "eight_32.json", "eight.json")
ROUNDS = 15


def best_ns(call, times):
    """The shortest of some rounds, per call."""
    def once():
        started = time.perf_counter_ns()
        for _ in range(times):
            call()
        return (time.perf_counter_ns() - started) / times
    return min(once() for _ in range(ROUNDS))


def objects_of(snapshot):
    held = [device.telemetry for device in snapshot.devices]
    held += [device.own_usage for device in snapshot.devices]
    held += [snapshot.info, snapshot.memory, snapshot.system]
    held += [*snapshot.devices, *snapshot.pools, *snapshot.usages, *snapshot.diagnostics]
    return sum(value is not None for value in held)


def main():
    folder = pathlib.Path(sys.argv[1])
    gc.disable()
    bare = best_ns(raw.version_number, 100000)
    print(f"bare call: {bare:.0f} ns")
    print(f"{'machine':14} {'usages':>6} {'objects':>7} {'native take':>12} {'copy':>12} "
          f"{'per object':>10} {'bare calls':>10} {'with take':>10}")
    for name in FILES:
        with Context(paths={Place.SIMULATION: str((folder / name).resolve())}) as context:
            native = context._handle.use()
            taken = native.take(0, ALL, 0, 0, 0)
            snapshot = make_snapshot(taken)
            count = objects_of(snapshot)
            copy = best_ns(lambda: make_snapshot(taken), 200)
            take = best_ns(lambda: native.take(0, ALL, 0, 0, 0), 100)
            both = best_ns(lambda: context.snapshot(ALL), 100)
            print(f"{name:14} {len(snapshot.usages):6} {count:7} {take:9.0f} ns {copy:9.0f} ns "
                  f"{copy / count:7.0f} ns {copy / count / bare:10.1f} {both / count / bare:10.1f}")


if __name__ == "__main__":
    main()
