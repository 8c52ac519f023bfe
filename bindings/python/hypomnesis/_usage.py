# SPDX-License-Identifier: MIT OR Apache-2.0
"""What one process uses on one device."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

from ._native import raw
from ._record import maker


class UsageKind(IntFlag):
    """What a process runs on a device."""

    COMPUTE = raw.USAGE_COMPUTE
    GRAPHICS = raw.USAGE_GRAPHICS
    MEDIA = raw.USAGE_MEDIA


class NameState(IntEnum):
    """What is known of a process' name."""

    UNKNOWN = raw.NAME_UNKNOWN
    RESOLVED = raw.NAME_RESOLVED
    EXITED = raw.NAME_EXITED  # the driver still lists it, the system does not
    PROTECTED = raw.NAME_PROTECTED  # the system refuses to tell
    KERNEL = raw.NAME_KERNEL  # the kernel itself


class UsageField(IntFlag):
    """Fields of a Usage, as a Diagnostic names them."""

    USED = raw.USAGE_HAS_USED
    RESIDENT = raw.USAGE_HAS_RESIDENT
    COMMITTED = raw.USAGE_HAS_COMMITTED
    ALLOCATED = raw.USAGE_HAS_ALLOCATED
    SHARED = raw.USAGE_HAS_SHARED
    PURGEABLE = raw.USAGE_HAS_PURGEABLE
    EVICTED = raw.USAGE_HAS_EVICTED
    HOST_POOL = raw.USAGE_HAS_HOST_POOL
    HOST_RESIDENT = raw.USAGE_HAS_HOST_RESIDENT
    BUDGET = raw.USAGE_HAS_BUDGET
    BUSY_NS = raw.USAGE_HAS_BUSY_NS
    BUSY_PERCENT = raw.USAGE_HAS_BUSY_PERCENT
    START_TIME = raw.USAGE_HAS_START_TIME
    UID = raw.USAGE_HAS_UID
    INSTANCE = raw.USAGE_HAS_INSTANCE
    KINDS = raw.USAGE_HAS_KINDS
    PEAK_USED = raw.USAGE_HAS_PEAK_USED


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory of one process on one device: figures of that process only. None: not known."""

    notes: int  # Note. FOREIGN_PID: pid is not one of the proc tree in use
    backend: int  # Backend
    pid: int
    device_index: int
    kinds: int | None  # UsageKind: what it runs there
    accounting: int  # Accounting: what used_bytes counts
    name_state: int  # NameState
    uid: int | None  # effective user id
    gpu_instance: int | None  # MIG
    compute_instance: int | None  # MIG
    start_unix_ns: int | None  # with pid: tells a reused pid from the old one
    used_bytes: int | None  # the headline, by ``accounting``
    resident_bytes: int | None
    committed_bytes: int | None
    allocated_bytes: int | None
    shared_bytes: int | None  # the part of used_bytes that other processes hold as well
    purgeable_bytes: int | None
    evicted_bytes: int | None  # wanted in device memory, and not there now
    host_pool_bytes: int | None  # host RAM mapped for the device (GTT, WDDM shared)
    host_resident_bytes: int | None  # RSS: the same in each row of this pid
    budget_bytes: int | None
    busy_ns: int | None  # ever growing: take differences
    busy_percent: float | None
    window_ns: int | None  # what busy_percent averages over
    age_ns: int  # since the driver was asked
    peak_used_bytes: int | None  # the most that it has held, as the driver keeps it (NVIDIA)
    process_name: str | None = None  # rows of a snapshot's usages: the command's name
    process_command: str | None = None  # the same: command line, a blank between arguments
    process_container: str | None = None  # the same: "<runtime>:<id>"


_make = maker(Usage)


def make_usage(values: tuple[Any, ...], process_name: str | None = None,
               process_command: str | None = None, process_container: str | None = None) -> Usage:
    return _make((*values, process_name, process_command, process_container))
