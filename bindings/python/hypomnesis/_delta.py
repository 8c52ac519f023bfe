# SPDX-License-Identifier: MIT OR Apache-2.0
"""What changed from one snapshot to another."""
from __future__ import annotations

from dataclasses import dataclass

from ._record import maker


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed from one snapshot to another: after minus before. None: a side does not know."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    scope: int  # Scope: device_bytes is this process' or the device's
    accounting: int  # Accounting of device_bytes
    memory_bytes: int | None  # this process' resident set
    device_bytes: int | None  # of this process when both snapshots know that, else of the device
    elapsed_ns: int
    energy_joules: float | None  # of the whole device


make_delta = maker(Delta)
