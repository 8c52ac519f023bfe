# SPDX-License-Identifier: MIT OR Apache-2.0
"""The host's RAM."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from ._native import raw
from ._record import maker


class Pressure(IntEnum):
    """How short of memory the system itself says that it is."""

    UNKNOWN = raw.PRESSURE_UNKNOWN
    NORMAL = raw.PRESSURE_NORMAL
    WARNING = raw.PRESSURE_WARNING  # programs should give memory back
    CRITICAL = raw.PRESSURE_CRITICAL  # it ends programs next; never said by Windows


class SystemMemoryField(IntFlag):
    """Fields of a SystemMemory, as a Diagnostic names them."""

    TOTAL = raw.SYSTEM_MEMORY_HAS_TOTAL
    AVAILABLE = raw.SYSTEM_MEMORY_HAS_AVAILABLE
    SWAP_TOTAL = raw.SYSTEM_MEMORY_HAS_SWAP_TOTAL
    SWAP_FREE = raw.SYSTEM_MEMORY_HAS_SWAP_FREE
    LIMIT = raw.SYSTEM_MEMORY_HAS_LIMIT
    LIMIT_USED = raw.SYSTEM_MEMORY_HAS_LIMIT_USED
    COMMIT_LIMIT = raw.SYSTEM_MEMORY_HAS_COMMIT_LIMIT
    COMMITTED = raw.SYSTEM_MEMORY_HAS_COMMITTED
    PRESSURE = raw.SYSTEM_MEMORY_HAS_PRESSURE
    STALL = raw.SYSTEM_MEMORY_HAS_STALL


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """The host's RAM and this container's share of it, in bytes. None: not known."""

    notes: int  # Note. ESTIMATED: available_bytes derived, on kernels without it
    backend: int  # Backend
    total_bytes: int | None  # RAM that the kernel manages
    available_bytes: int | None  # what could be used without swapping
    swap_total_bytes: int | None
    swap_free_bytes: int | None
    limit_bytes: int | None  # the tightest of this process' control groups, or jobs; None: no limit
    limit_used_bytes: int | None  # what is charged to the group or job with that limit
    commit_limit_bytes: int | None
    committed_bytes: int | None
    pressure: int | None  # Pressure: macOS and Windows
    stall_percent: float | None  # of the last 10 s: a task waited for memory; Linux


make_system_memory = maker(SystemMemory)
