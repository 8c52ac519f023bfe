# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a snapshot holds."""
from __future__ import annotations

from dataclasses import dataclass

from ._record import maker


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """Counts, times and notes of a snapshot."""

    notes: int  # Note. PARTIAL: something asked for is missing
    collect: int  # Collect: what was asked for
    device_count: int
    pool_count: int
    usage_count: int
    diagnostic_count: int
    unreadable_process_count: int  # listed by a driver, and the system would not describe them
    metric_count: int
    unix_time_ns: int  # when it was begun, since 1970
    monotonic_ns: int  # the same by the clock that never jumps
    duration_ns: int  # how long it took


make_snapshot_info = maker(SnapshotInfo)
