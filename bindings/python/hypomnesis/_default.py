# SPDX-License-Identifier: MIT OR Apache-2.0
"""The same without a context at hand: one is kept for this process."""
from __future__ import annotations

from ._constants import Collect, ContextFlag
from ._context import Context
from ._duration import Duration
from ._records import Device, ProcessMemory, SystemMemory
from ._snapshot import Snapshot

_kept: dict[str, Context] = {}


def default_context() -> Context:
    """This process' own context, made at the first use. It reads HMN_* variables (never when
    set-user-id), and opens itself again after a fork or a close."""
    context = _kept.get("")
    if context is None or context.closed:
        _kept[""] = context = Context(ContextFlag.ENVIRONMENT)
    return context


def memory(fields: int = 0) -> ProcessMemory:
    """Host memory of this process, see Context.own_memory."""
    return default_context().own_memory(fields)


def system_memory() -> SystemMemory:
    """The host's memory, see Context.system_memory."""
    return default_context().system_memory()


def devices() -> tuple[Device, ...]:
    """All devices with their pools."""
    with snapshot(Collect.POOLS) as taken:
        return taken.devices


def snapshot(collect: int = 0, *, device_index: int | None = None, pid: int | None = None,
             deadline: Duration = 0) -> Snapshot:
    """A snapshot of everything requested, see Context.snapshot."""
    return default_context().snapshot(collect, device_index=device_index, pid=pid,
                                      deadline=deadline)
