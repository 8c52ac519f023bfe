# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a device."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from ._native import raw
from ._record import maker


class PoolKind(IntEnum):
    """One pool per kind. An APU has VRAM and HOST, a unified GPU has UNIFIED alone."""

    MAIN = raw.POOL_MAIN  # asked for: the pool that allocations come from
    VRAM = raw.POOL_VRAM  # the device's own memory
    VRAM_VISIBLE = raw.POOL_VRAM_VISIBLE  # the part of it that the host can address
    HOST = raw.POOL_HOST  # host RAM mapped for the device (GTT, WDDM shared)
    UNIFIED = raw.POOL_UNIFIED  # host RAM that the device allocates from as its own
    STOLEN = raw.POOL_STOLEN  # host RAM that firmware set aside


class PoolField(IntFlag):
    """Fields of a Pool, as a Diagnostic names them."""

    TOTAL = raw.POOL_HAS_TOTAL
    FREE = raw.POOL_HAS_FREE
    USED = raw.POOL_HAS_USED
    RESERVED = raw.POOL_HAS_RESERVED
    USABLE = raw.POOL_HAS_USABLE
    BUDGET = raw.POOL_HAS_BUDGET
    UNATTRIBUTED = raw.POOL_HAS_UNATTRIBUTED


@dataclass(frozen=True, slots=True)
class Pool:
    """One memory pool of a device, device-wide, in bytes. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    kind: int  # PoolKind, never MAIN
    accounting: int  # Accounting: what used_bytes counts
    is_main: bool  # allocations come from this pool
    total_bytes: int | None
    free_bytes: int | None
    used_bytes: int | None  # without reserved_bytes where that is known; else with it
    reserved_bytes: int | None  # held by driver and firmware; total = reserved + free + used
    usable_bytes: int | None  # best estimate of what one could allocate now
    budget_bytes: int | None  # what a policy lets this process use
    unattributed_bytes: int | None  # used, and owned by no process that can be seen
    age_ns: int  # since the driver was asked


make_pool = maker(Pool)
