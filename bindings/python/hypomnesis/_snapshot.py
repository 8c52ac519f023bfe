# SPDX-License-Identifier: MIT OR Apache-2.0
"""A snapshot of everything requested."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, fields
from types import TracebackType

from ._constants import Format, PoolKind, Status
from ._device import make_device
from ._error import ArgumentError
from ._handle import Handle
from ._native import raw
from ._records import (GROUP_TEXTS, USAGE_TEXTS, Delta, Device, Diagnostic, Group, Metric, Pool, ProcessMemory,
                       SnapshotInfo, SystemMemory, Telemetry, Usage, make_delta, make_diagnostic, make_group,
                       make_metric, make_pool, make_process_memory, make_snapshot_info,
                       make_system_memory, make_telemetry, make_usage)
from ._table import Row, format_number, format_size, make_html


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """One consistent, immutable snapshot. Context.snapshot takes one.

    Its values are copies: they outlive its context, its close and a fork. Its methods ask the library, which
    needs the native snapshot: after close they raise ClosedError.
    """

    info: SnapshotInfo
    memory: ProcessMemory | None  # this process' host memory; None: not requested or not available
    system: SystemMemory | None  # the host's memory; None: not requested or not available
    devices: tuple[Device, ...]  # by index
    pools: tuple[Pool, ...]  # of all devices: by device index, the main pool first
    usages: tuple[Usage, ...]  # of all devices: by device index, then pid
    diagnostics: tuple[Diagnostic, ...]  # why something is missing
    metrics: tuple[Metric, ...]  # of all devices: by device index
    groups: tuple[Group, ...]  # what control groups hold: by device index
    _handle: Handle[raw.Snapshot] = field(repr=False)

    def json(self) -> str:
        """The whole snapshot as one JSON object; numbers are numbers, what is unknown is null."""
        return self._handle.use().json()

    def pool(self, device_index: int, kind: int = PoolKind.MAIN, instance: int = 0) -> Pool | None:
        """Memory of a device, by its index; None when it has no such pool. `instance` from 1: a part of it.

        NoDeviceError: the snapshot does not have the device. RangeError: no such PoolKind.
        """
        values = self._handle.use().device_pool(device_index, kind, instance)
        return None if values is None else make_pool(values)

    def device_line(self, device_index: int, format: int = Format.FREE, flags: int = 0) -> str | None:
        """A device, by its index, as one line: "  GPU 0: free 13284 MiB / 16384 MiB [name]". `flags`: LineFlag.

        None when the value is not known. NoDeviceError: the snapshot does not have the device. RangeError: no
        such Format.
        """
        return self._handle.use().device_line(device_index, format, flags)

    def reason(self, device_index: int, subject: int, field: int = 0, metric: int = 0, *, metric_instance: int = 0,
               pool: int = PoolKind.MAIN, pool_instance: int = 0, pid: int = 0) -> Diagnostic | None:
        """Why a value of a device, by its index, is missing.

        `subject` is a bit of Collect, `field` the presence bit of the value, `metric` with Collect.METRICS a
        MetricId; both 0: the subject as a whole. `pool` and `pool_instance` name a pool with
        Collect.POOLS, `pid` a process with Collect.PROCESSES. None when the subject was not requested.
        NoDeviceError: the snapshot does not have the device. RangeError: not one bit of Collect, or an
        unknown PoolKind or MetricId. ArgumentError: the subject does not use what is given.
        """
        values = self._handle.use().reason(subject, device_index, field, pid, pool, pool_instance, metric,
                                           metric_instance)
        return None if values is None else make_diagnostic(values)

    def delta_since(self, before: Snapshot, device_index: int) -> Delta | None:
        """What changed on a device, by its index, and on the host.

        None when the snapshots have nothing in common. NoDeviceError: neither of them has the device.
        ArgumentError: `before` was taken after this one.
        """
        values = self._handle.use().delta_since(require_native(before), device_index)
        return None if values is None else make_delta(values)

    def delta_line(self, before: Snapshot, device_index: int, label: str, flags: int = 0) -> str | None:
        """The change as one line, in MiB; None when host memory is missing on one side. `flags`: LineFlag."""
        return self._handle.use().delta_line(require_native(before), device_index, label, flags)

    def before_after_lines(self, before: Snapshot, device_index: int, label: str,
                           flags: int = 0) -> str | None:
        """Both values and the change, one line for RAM and one for VRAM; None as for delta_line."""
        return self._handle.use().before_after_lines(require_native(before), device_index, label, flags)

    def _repr_html_(self) -> str:
        """The host and the devices as a table, for notebooks."""
        system = self.system
        rows: list[Row] = [("", "memory used", "free", "of", "load", "temperature", "power")]
        if system is not None:
            rows.append(("host", "", format_size(system.available_bytes), format_size(system.total_bytes), "", "", ""))
        for device in self.devices:
            pool, telemetry = device.main_pool, device.telemetry
            rows.append((f"GPU {device.index} {device.name or 'unknown'}",
                         *(format_size(count) for count in (
                             (pool.used_bytes, pool.free_bytes, pool.total_bytes) if pool else (None, None, None))),
                         format_number(telemetry.gpu_busy_percent if telemetry else None, "%"),
                         format_number(telemetry.temperature_celsius if telemetry else None, "°C"),
                         format_number(telemetry.power_watts if telemetry else None, "W")))
        return make_html(rows)

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees the native snapshot; the values stay. Closing again is fine."""
        self._handle.close()

    def __enter__(self) -> Snapshot:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def require_native(snapshot: Snapshot) -> raw.Snapshot:
    """The native snapshot of an argument; ArgumentError: it is no Snapshot."""
    if not isinstance(snapshot, Snapshot):
        raise ArgumentError(f"a Snapshot is expected, not {snapshot!r}", Status.ARGUMENT)
    return snapshot._handle.use()


_INDEX = [entry.name for entry in fields(Device)].index("index")


def make_snapshot(native: raw.Snapshot) -> Snapshot:
    """Copies all values of a native snapshot."""
    info = make_snapshot_info(native.info())
    pools = tuple([make_pool(native.pool(i)) for i in range(info.pool_count)])
    usages = tuple([make_usage(native.usage(i), tuple([native.text(text, i) for text in USAGE_TEXTS]))
                    for i in range(info.usage_count)])
    metrics = tuple([make_metric(native.metric(i)) for i in range(info.metric_count)])
    groups = tuple([make_group(native.group(i), tuple([native.text(text, i) for text in GROUP_TEXTS]))
                    for i in range(info.group_count)])
    memory, system = native.memory(), native.system()
    return Snapshot(
        info,
        None if memory is None else make_process_memory(memory),
        None if system is None else make_system_memory(system),
        _make_devices(native, info.device_count, pools, usages, metrics),
        pools,
        usages,
        tuple([make_diagnostic(native.diagnostic(i)) for i in range(info.diagnostic_count)]),
        metrics,
        groups,
        Handle(native, "snapshot"))


def _make_devices(native: raw.Snapshot, count: int, pools: tuple[Pool, ...],
                  usages: tuple[Usage, ...], metrics: tuple[Metric, ...]) -> tuple[Device, ...]:
    device_pools: defaultdict[int, list[Pool]] = defaultdict(list)
    for pool in pools:
        device_pools[pool.device_index].append(pool)
    device_usages: defaultdict[int, list[Usage]] = defaultdict(list)
    for usage in usages:
        device_usages[usage.device_index].append(usage)
    device_metrics: defaultdict[int, list[Metric]] = defaultdict(list)
    for metric in metrics:
        device_metrics[metric.device_index].append(metric)
    devices = []
    for i in range(count):
        values = native.device(i)
        index = values[_INDEX]
        devices.append(make_device(values, tuple(device_pools[index]),
                                   _make_optional_telemetry(native.telemetry(index)),
                                   _make_optional_usage(native.own_usage(index)), tuple(device_usages[index]),
                                   tuple(device_metrics[index])))
    return tuple(devices)


def _make_optional_telemetry(values: raw._Values | None) -> Telemetry | None:
    return None if values is None else make_telemetry(values)


def _make_optional_usage(values: raw._Values | None) -> Usage | None:
    return None if values is None else make_usage(values)
