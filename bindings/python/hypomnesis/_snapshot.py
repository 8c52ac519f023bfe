# SPDX-License-Identifier: MIT OR Apache-2.0
"""One picture of everything that was asked for."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, fields
from enum import IntEnum, IntFlag
from types import TracebackType

from ._delta import Delta, make_delta
from ._device import Device, make_device
from ._diagnostic import Diagnostic, make_diagnostic
from ._handle import Handle
from ._metric import Metric, make_metric
from ._native import raw
from ._pool import Pool, make_pool
from ._process_memory import ProcessMemory, make_process_memory
from ._snapshot_info import SnapshotInfo, make_snapshot_info
from ._system_memory import SystemMemory, make_system_memory
from ._telemetry import Telemetry, make_telemetry
from ._usage import Usage, make_usage


class Collect(IntFlag):
    """What a snapshot takes. The last five imply DEVICES."""

    MEMORY = raw.COLLECT_MEMORY  # this process' host memory: resident and virtual
    SYSTEM = raw.COLLECT_SYSTEM  # the host's memory
    DEVICES = raw.COLLECT_DEVICES  # who the devices are
    POOLS = raw.COLLECT_POOLS  # their memory
    SELF = raw.COLLECT_SELF  # what this process uses on each
    PROCESSES = raw.COLLECT_PROCESSES  # what every process uses on each
    TELEMETRY = raw.COLLECT_TELEMETRY  # load, temperature, power
    METRICS = raw.COLLECT_METRICS  # each single number that the sources tell


class SnapshotFlag(IntFlag):
    """How Context.take goes about it."""

    ONE_DEVICE = raw.SNAPSHOT_ONE_DEVICE  # device_index says which
    ONE_PROCESS = raw.SNAPSHOT_ONE_PROCESS  # pid says which: keeps the usages of that pid alone
    SLOW = raw.SNAPSHOT_SLOW  # also metrics that take more than a few milliseconds


class Format(IntEnum):
    """Which figure a device's line gives."""

    FREE = raw.FORMAT_FREE
    TOTAL = raw.FORMAT_TOTAL
    USED = raw.FORMAT_USED


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """One consistent, immutable picture. Context.snapshot takes one.

    Its values are copies: they outlive its context, its close and a fork. Texts and differences are
    made by the library from the native snapshot behind it, until close; then they raise ClosedError.
    """

    info: SnapshotInfo
    memory: ProcessMemory | None  # this process' host memory; None: not asked for, or not to be had
    system: SystemMemory | None  # the host's memory; None: not asked for, or not to be had
    devices: tuple[Device, ...]  # by index
    pools: tuple[Pool, ...]  # of all devices: by device index, the main pool first
    usages: tuple[Usage, ...]  # of all devices: by device index, then pid
    diagnostics: tuple[Diagnostic, ...]  # why something is missing
    metrics: tuple[Metric, ...]  # of all devices: by device index
    _handle: Handle[raw.Snapshot] = field(repr=False)

    def json(self) -> str:
        """The whole snapshot as one JSON object; numbers are numbers, what is unknown is null."""
        return self._handle.use().json()

    def device_line(self, i: int, format: int = Format.FREE) -> str | None:
        """The device at position i as one line, in MiB: "  GPU 0: free 13284 MB / 16384 MB [name]".

        None when the figure is not known. RangeError: i is past the end, or no such Format.
        """
        return self._handle.use().device_line(i, format)

    def delta_since(self, before: Snapshot, device_index: int) -> Delta | None:
        """What changed on a device, by its index, and on the host.

        None when the snapshots have nothing in common. NoDeviceError: neither has the device.
        ArgumentError: `before` was taken after this one.
        """
        values = self._handle.use().delta_since(before._handle.use(), device_index)
        return None if values is None else make_delta(values)

    def delta_line(self, before: Snapshot, device_index: int, label: str) -> str | None:
        """The change as one line, in MiB; None when host memory is missing on a side."""
        return self._handle.use().delta_line(before._handle.use(), device_index, label)

    def before_after_lines(self, before: Snapshot, device_index: int, label: str) -> str | None:
        """Both figures and the change, one line for RAM and one for VRAM; None as in delta_line."""
        return self._handle.use().before_after_lines(before._handle.use(), device_index, label)

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees the native snapshot; the values stay. More than once is fine."""
        self._handle.close()

    def __enter__(self) -> Snapshot:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


_INDEX = [entry.name for entry in fields(Device)].index("index")


def make_snapshot(native: raw.Snapshot) -> Snapshot:
    """Copies a native snapshot whole."""
    info = make_snapshot_info(native.info())
    pools = tuple([make_pool(native.pool(i)) for i in range(info.pool_count)])
    name, command = raw.TEXT_PROCESS_NAME, raw.TEXT_PROCESS_COMMAND
    container = raw.TEXT_PROCESS_CONTAINER
    usages = tuple([make_usage(native.usage(i), native.text(name, i), native.text(command, i),
                               native.text(container, i))
                    for i in range(info.usage_count)])
    group = raw.TEXT_METRIC_GROUP
    metrics = tuple([make_metric(native.metric(i), native.text(group, i))
                     for i in range(info.metric_count)])
    memory, system = native.memory(), native.system()
    return Snapshot(
        info,
        None if memory is None else make_process_memory(memory),
        None if system is None else make_system_memory(system),
        _devices(native, info.device_count, pools, usages, metrics),
        pools,
        usages,
        tuple([make_diagnostic(native.diagnostic(i)) for i in range(info.diagnostic_count)]),
        metrics,
        Handle(native, "snapshot"))


def _devices(native: raw.Snapshot, count: int, pools: tuple[Pool, ...],
             usages: tuple[Usage, ...], metrics: tuple[Metric, ...]) -> tuple[Device, ...]:
    pools_of: defaultdict[int, list[Pool]] = defaultdict(list)
    for pool in pools:
        pools_of[pool.device_index].append(pool)
    usages_of: defaultdict[int, list[Usage]] = defaultdict(list)
    for usage in usages:
        usages_of[usage.device_index].append(usage)
    metrics_of: defaultdict[int, list[Metric]] = defaultdict(list)
    for metric in metrics:
        metrics_of[metric.device_index].append(metric)
    made = []
    for i in range(count):
        values = native.device(i)
        index = values[_INDEX]
        made.append(make_device(values, tuple(pools_of[index]), _telemetry(native.telemetry(i)),
                                _usage(native.own_usage(i)), tuple(usages_of[index]),
                                tuple(metrics_of[index])))
    return tuple(made)


def _telemetry(values: raw._Values | None) -> Telemetry | None:
    return None if values is None else make_telemetry(values)


def _usage(values: raw._Values | None) -> Usage | None:
    return None if values is None else make_usage(values)
