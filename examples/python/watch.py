# SPDX-License-Identifier: MIT OR Apache-2.0
"""watch.py PID: the memory of a process on the host and on each GPU, five times a second until it exits, and
the GPUs whose memory spilled to the host meanwhile."""
import sys
import time

import hypomnesis
from hypomnesis import Collect, Context, ContextFlag, Spill, SpillState


def sample(context: Context, pid: int, spills: dict[int, Spill], number: int) -> None:
    """One line. Reads all processes, because some drivers report evicted memory per process."""
    host = context.process_memory(pid)
    with context.snapshot(Collect.DEVICES | Collect.POOLS | Collect.PROCESSES) as snapshot:
        resident = host.resident_bytes
        parts = ["host not known" if resident is None else f"host {hypomnesis.format_bytes(resident)}"]
        parts += [f"GPU {usage.device_index} {hypomnesis.format_bytes(usage.used_bytes)}"
                  for usage in snapshot.usages if usage.pid == pid and usage.used_bytes is not None]
        print(", ".join(parts), flush=True)
        for device in snapshot.devices:
            spill = spills.setdefault(device.index, Spill(device.index))
            try:
                spill.observe_snapshot(snapshot, f"sample {number}")
            except hypomnesis.Error:
                pass  # a detector without values reports that at the end


def print_spill(index: int, info: hypomnesis.SpillInfo) -> None:
    if info.state & SpillState.EVER:
        print(f"GPU {index}: spilled, first in {info.first_label}")
    elif info.state & SpillState.MEASURABLE:
        print(f"GPU {index}: did not spill")
    else:
        print(f"GPU {index}: not known whether it spilled")


def main() -> int:
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        print("usage: watch.py PID", file=sys.stderr)
        return 2
    spills: dict[int, Spill] = {}
    samples, status = 0, 1
    with Context(ContextFlag.ENVIRONMENT) as context:
        try:
            while True:
                sample(context, int(sys.argv[1]), spills, samples + 1)
                samples += 1
                time.sleep(0.2)
        except hypomnesis.Error as error:
            if samples > 0 and error.status == hypomnesis.Status.NO_PROCESS:
                status = 0
            else:
                print(error)
    for index, spill in spills.items():
        print_spill(index, spill.info())
    return status


if __name__ == "__main__":
    sys.exit(main())
