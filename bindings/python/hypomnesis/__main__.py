# SPDX-License-Identifier: MIT OR Apache-2.0
"""python -m hypomnesis [--json]: this process, the host and the GPUs in a few lines, or as JSON."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import hypomnesis
from hypomnesis import Collect, Snapshot
from hypomnesis._table import format_size

COLLECT = Collect.MEMORY | Collect.SYSTEM | Collect.POOLS | Collect.SELF


def format_lines(snapshot: Snapshot) -> Iterator[str]:
    yield f"hypomnesis {hypomnesis.version()}"
    if snapshot.memory is not None:
        yield f"this process: {format_size(snapshot.memory.resident_bytes)} resident"
    if snapshot.system is not None:
        yield (f"host: {format_size(snapshot.system.available_bytes)} available of "
               f"{format_size(snapshot.system.total_bytes)}")
    for device in snapshot.devices:
        pool = device.main_pool
        name = device.name or "unknown"
        values = "memory unknown" if pool is None else (
            f"{format_size(pool.free_bytes)} free of {format_size(pool.total_bytes)}")
        yield f"GPU {device.index} [{name}]: {values}"
    if not snapshot.devices:
        yield "no GPU"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hypomnesis",
                                     description="Memory of this process, the host and the GPUs.")
    parser.add_argument("--json", action="store_true", help="the snapshot as one JSON object")
    options = parser.parse_args()
    try:
        with hypomnesis.snapshot(COLLECT) as snapshot:
            if options.json:
                print(snapshot.json())
                return 0
            print(*format_lines(snapshot), sep="\n")
            for diagnostic in snapshot.diagnostics:
                print(f"hypomnesis: {diagnostic.message}", file=sys.stderr)
    except hypomnesis.Error as error:
        print(f"hypomnesis: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
