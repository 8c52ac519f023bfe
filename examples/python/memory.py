# SPDX-License-Identifier: MIT OR Apache-2.0
"""memory: the memory of this process, and what the host has available."""
import hypomnesis


def main() -> None:
    resident = hypomnesis.memory().resident_bytes
    available = hypomnesis.system_memory().available_bytes
    for name, count in (("resident", resident), ("available", available)):
        if count is None:
            print(f"{name}: not known")
        else:
            print(f"{name}: {count} bytes ({hypomnesis.format_bytes(count)})")


if __name__ == "__main__":
    main()
