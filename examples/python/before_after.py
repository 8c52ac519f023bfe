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
                print(lines or "RAM is not known\n", end="")
                return
            first, second = read_resident(before), read_resident(after)
            if first is None or second is None:
                print("RAM is not known")
            else:
                print("RAM +64 MiB or more" if second - first >= len(work) else "RAM rose by less than 64 MiB")


def read_resident(snapshot: hypomnesis.Snapshot) -> int | None:
    """This process' resident set in bytes."""
    return None if snapshot.memory is None else snapshot.memory.resident_bytes


if __name__ == "__main__":
    main()
