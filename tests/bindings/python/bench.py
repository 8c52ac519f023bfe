# SPDX-License-Identifier: MIT OR Apache-2.0
"""bench.py MACHINES: the time to copy a whole snapshot, per created object, compared with a bare call through
the same binding. MACHINES is the folder of eight.json and its smaller variants."""
import gc
import pathlib
import sys
import time

from hypomnesis import Collect, Context, Place, _proxy as raw
from hypomnesis._snapshot import make_snapshot

ALL = (Collect.MEMORY | Collect.SYSTEM | Collect.POOLS | Collect.SELF | Collect.PROCESSES |
       Collect.TELEMETRY)
FILES = ("eight_16.json", "eight_32.json", "eight.json")
ROUNDS = 15


def measure_best_ns(call, times):
    """Returns the time per call in the fastest round."""
    def measure_round():
        start = time.perf_counter_ns()
        for _ in range(times):
            call()
        return (time.perf_counter_ns() - start) / times
    return min(measure_round() for _ in range(ROUNDS))


def count_objects(snapshot):
    objects = [device.telemetry for device in snapshot.devices]
    objects += [device.own_usage for device in snapshot.devices]
    objects += [snapshot.info, snapshot.memory, snapshot.system]
    objects += [*snapshot.devices, *snapshot.pools, *snapshot.usages, *snapshot.diagnostics]
    return sum(value is not None for value in objects)


def main():
    folder = pathlib.Path(sys.argv[1])
    gc.disable()
    bare_ns = measure_best_ns(raw.version_number, 100000)
    print(f"bare call: {bare_ns:.0f} ns")
    print(f"{'machine':14} {'usages':>6} {'objects':>7} {'native take':>12} {'copy':>12} "
          f"{'per object':>10} {'bare calls':>10} {'with take':>10}")
    for name in FILES:
        with Context(paths={Place.SIMULATION: str((folder / name).resolve())}) as context:
            native = context._handle.use()
            raw_snapshot = native.take(0, ALL, 0, 0, 0)
            snapshot = make_snapshot(raw_snapshot)
            count = count_objects(snapshot)
            copy_ns = measure_best_ns(lambda: make_snapshot(raw_snapshot), 200)
            take_ns = measure_best_ns(lambda: native.take(0, ALL, 0, 0, 0), 100)
            snapshot_ns = measure_best_ns(lambda: context.snapshot(ALL), 100)
            print(f"{name:14} {len(snapshot.usages):6} {count:7} {take_ns:9.0f} ns {copy_ns:9.0f} ns "
                  f"{copy_ns / count:7.0f} ns {copy_ns / count / bare_ns:10.1f} {snapshot_ns / count / bare_ns:10.1f}")


if __name__ == "__main__":
    main()
