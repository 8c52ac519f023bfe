# SPDX-License-Identifier: MIT OR Apache-2.0
"""Functions that need no context: they share one of this process."""
from __future__ import annotations

from ._constants import Collect, ContextFlag
from ._context import Context
from ._duration import Duration
from ._records import Device, ProcessMemory, SystemMemory, Usage
from ._snapshot import Snapshot

_cache: dict[str, Context] = {}


def default_context() -> Context:
    """The context of this process, created at the first use. It reads HMN_* variables (never when
    set-user-id), and is opened again after a fork or a close."""
    context = _cache.get("")
    if context is None or context.closed:
        _cache[""] = context = Context(ContextFlag.ENVIRONMENT)
    return context


def memory(fields: int = 0) -> ProcessMemory:
    """Host memory of this process, see Context.own_memory."""
    return default_context().own_memory(fields)


def system_memory() -> SystemMemory:
    """The host's memory, see Context.system_memory."""
    return default_context().system_memory()


def devices() -> tuple[Device, ...]:
    """All devices with their pools and telemetry."""
    with snapshot(Collect.POOLS | Collect.TELEMETRY) as result:
        return result.devices


def processes() -> tuple[Usage, ...]:
    """What every process uses on every device: one item for each process and device, with the process' name, command
    and container."""
    with snapshot(Collect.PROCESSES) as result:
        return result.usages


def snapshot(collect: int = 0, *, device_index: int | None = None, pid: int | None = None,
             deadline: Duration = 0) -> Snapshot:
    """A snapshot of everything requested, see Context.snapshot."""
    return default_context().snapshot(collect, device_index=device_index, pid=pid,
                                      deadline=deadline)
