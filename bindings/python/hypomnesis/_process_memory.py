# SPDX-License-Identifier: MIT OR Apache-2.0
"""Host RAM of one process."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from ._native import raw
from ._record import maker


class ProcessMemoryField(IntFlag):
    """Fields of a ProcessMemory that can be asked for. Cheap: RESIDENT and VIRTUAL."""

    RESIDENT = raw.PROCESS_MEMORY_HAS_RESIDENT
    PEAK_RESIDENT = raw.PROCESS_MEMORY_HAS_PEAK_RESIDENT
    VIRTUAL = raw.PROCESS_MEMORY_HAS_VIRTUAL
    SWAP = raw.PROCESS_MEMORY_HAS_SWAP
    PROPORTIONAL = raw.PROCESS_MEMORY_HAS_PROPORTIONAL
    PRIVATE = raw.PROCESS_MEMORY_HAS_PRIVATE
    COMMITTED = raw.PROCESS_MEMORY_HAS_COMMITTED
    FOOTPRINT = raw.PROCESS_MEMORY_HAS_FOOTPRINT
    PEAK_FOOTPRINT = raw.PROCESS_MEMORY_HAS_PEAK_FOOTPRINT
    PEAK_COMMITTED = raw.PROCESS_MEMORY_HAS_PEAK_COMMITTED


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Host RAM of one process, in bytes. None: not known, or not asked for."""

    notes: int  # Note
    backend: int  # Backend
    pid: int
    resident_bytes: int | None  # RSS: anonymous, file and shared pages
    peak_resident_bytes: int | None  # highest RSS so far
    virtual_bytes: int | None  # address space
    swap_bytes: int | None  # anonymous pages swapped out
    proportional_bytes: int | None  # PSS: shared pages divided by their users
    private_bytes: int | None  # USS: pages that no other process maps
    committed_bytes: int | None  # Windows: PrivateUsage
    footprint_bytes: int | None  # macOS: phys_footprint
    peak_footprint_bytes: int | None  # macOS: highest phys_footprint so far
    peak_committed_bytes: int | None  # Windows: PeakPagefileUsage


make_process_memory = maker(ProcessMemory)
