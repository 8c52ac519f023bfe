# SPDX-License-Identifier: MIT OR Apache-2.0
"""before_after: the change on the host and on the first GPU when 64 MiB are touched."""
import hypomnesis

MIB = 1 << 20


def main() -> None:
    with hypomnesis.snapshot() as before:
        work = bytearray(b"x") * (64 * MIB)
        with hypomnesis.snapshot() as after:
            if after.devices:
                lines = after.before_after_lines(before, after.devices[0].index, "work")
                print(lines or "work: host memory is not known\n", end="")
            elif grown(before, after) >= len(work):
                print("RAM +64 MiB or more")


def grown(before: hypomnesis.Snapshot, after: hypomnesis.Snapshot) -> int:
    """Growth of this process' resident set in bytes; 0 if not known."""
    if before.memory is None or after.memory is None:
        return 0
    return (after.memory.resident_bytes or 0) - (before.memory.resident_bytes or 0)


if __name__ == "__main__":
    main()
