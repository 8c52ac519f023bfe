# SPDX-License-Identifier: MIT OR Apache-2.0
"""`free_memory.py SIZE`: the GPU that has SIZE free, in bytes or for instance 8GiB."""
import re
import sys

import hypomnesis

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+) ?(\w*)", text)
    if match is None or match[2] not in UNITS:
        sys.exit(f"free_memory: {text} is no size; for instance 8GiB, or a number of bytes")
    return int(match[1]) * UNITS[match[2]]


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit("usage: free_memory.py SIZE")
    size = parse_size(sys.argv[1])
    best, most_free = None, -1
    for device in hypomnesis.devices():
        name = f"GPU {device.index} [{device.name or 'unknown'}]"
        free = device.main_pool.usable_bytes if device.main_pool is not None else None
        if free is None:
            print(f"{name}: free memory is not known")
            continue
        fits = free >= size
        verdict = "fits" if fits else "does not fit"
        print(f"{name}: {hypomnesis.format_bytes(free)} free, {verdict}")
        if fits and free > most_free:
            best, most_free = device.index, free
    if best is None:
        print(f"no GPU has {hypomnesis.format_bytes(size)} free")
        return 1
    print(f"GPU {best} has most")
    return 0


if __name__ == "__main__":
    sys.exit(main())
