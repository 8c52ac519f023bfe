# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sources of measurement, opened once and kept."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TypeVar

from ._constants import ContextFlag, PoolKind, SnapshotFlag
from ._device import DeviceScan, make_device
from ._duration import Duration, nanoseconds
from ._error import ForkedError
from ._handle import Handle
from ._native import raw
from ._records import (BackendInfo, Device, Metric, Pool, ProcessMemory, SystemMemory, Telemetry, Usage,
                       make_backend_info, make_metric, make_pool, make_process_memory,
                       make_system_memory, make_telemetry, make_usage)
from ._sampler import Sampler
from ._snapshot import Snapshot, make_snapshot
from ._spill import Spill
from ._tracker import Tracker, limit_arguments
from ._wait import wait

T = TypeVar("T")
PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _restrict_snapshot(device_index: int | None, pid: int | None) -> tuple[int, int, int]:
    """The options of a snapshot that restrict it: flags, device index and pid, 0 for what is None."""
    flags = 0
    if device_index is not None:
        flags |= SnapshotFlag.ONE_DEVICE
    if pid is not None:
        flags |= SnapshotFlag.ONE_PROCESS
    return flags, 0 if device_index is None else device_index, 0 if pid is None else pid


class Context:
    """Sources of measurement, opened once and kept.

    Creating one touches no driver and starts no thread. Any number of threads may use it at the same
    time, and other threads of Python run while it reads. In a forked child it opens itself again at its
    first use, with the same options and paths. Use it with ``with``, or call close; afterwards its
    methods raise ClosedError. Snapshots outlive it.

    A failed reading raises a subclass of Error, see Status for the reasons.
    """

    __slots__ = ("_handle", "_options", "_paths", "__weakref__")

    def __init__(self, flags: int = 0, *, deadline: Duration = 0, stale: Duration = 0,
                 open_deadline: Duration = 0, max_age: Duration = 0, idle_close: Duration = 0,
                 rescan: Duration = 0, backends_off: int = 0, rescan_percent: int = 0, device_classes: int = 0,
                 paths: Mapping[int, PathLike] | None = None) -> None:
        """Zero is the default of each option. Durations are seconds or a timedelta.

        flags: ContextFlag bits.
        deadline: longest that one call may wait for drivers; default 1 s.
        stale: oldest value returned instead of a DeadlineError; default 5 s.
        open_deadline: longest wait for a vendor library to open; default 10 s.
        max_age: readings this young share one driver call; default: none do.
        idle_close: a vendor library whose GPU may sleep is shut down this long after the last
            reading; default 2 s.
        rescan: all processes are searched for GPU clients at least this often, the known clients at
            each reading; default 2 s.
        backends_off: bit n disables Backend n.
        rescan_percent: most processor time for rescans, in percent of a core; default 2, 100: no limit.
        device_classes: bit n lists devices of DeviceClass n; default: only GPUs.
        paths: passed to set_path one by one.
        """
        self._options = (flags, nanoseconds("deadline", deadline), nanoseconds("stale", stale),
                         nanoseconds("open_deadline", open_deadline), nanoseconds("max_age", max_age),
                         nanoseconds("idle_close", idle_close), nanoseconds("rescan", rescan),
                         backends_off, rescan_percent, device_classes)
        self._paths: dict[int, bytes] = {}
        self._handle = Handle(raw.Context(*self._options), "context")
        if paths is not None:
            for place, path in dict(paths).items():
                self.set_path(place, path)

    def _open(self) -> raw.Context:
        native = raw.Context(*self._options)
        for place, path in self._paths.items():
            native.set_path(place, path)
        return native

    def _call(self, function: Callable[[raw.Context], T]) -> T:
        """Calls a function with the native context, or with a new one in a forked process."""
        native = self._handle.use()
        try:
            return function(native)
        except ForkedError:
            return function(self._handle.replace(native, self._open()))

    def _read(self, function: Callable[[raw.Context], T]) -> T:
        """The same for a call that may wait for a driver."""
        if self._options[0] & ContextFlag.NO_THREADS:
            return self._call(function)
        return wait(lambda: self._call(function))

    def set_path(self, place: int, path: PathLike | None) -> None:
        """Reads from another place than the default; `path` is absolute, None is the default.

        The first reading shows whether it exists. ArgumentError: not absolute, empty, or too long.
        RangeError: no such Place. UnsupportedError: the backend that uses it is not compiled in.
        StateError: this context was read from already.
        """
        value = None if path is None else os.fsencode(path)
        self._call(lambda native: native.set_path(place, value))
        if value is None:
            self._paths.pop(place, None)
        else:
            self._paths[place] = value

    def backend(self, backend: int) -> BackendInfo:
        """Status of a Backend, which is opened if that was not tried yet. RangeError: no such Backend."""
        return make_backend_info(self._read(lambda native: native.backend(backend)))

    def recording(self) -> str:
        """Everything that the backends of a context with ContextFlag.RECORD have read so far, as a machine file."""
        return self._call(lambda native: native.recording())

    def cancel(self) -> None:
        """Ends the waiting of all calls, from any thread: until resume, every call that waits for a
        driver or a snapshot, or would have to, raises CancelledError. Other calls work.

        The driver's call goes on; later readings use its answer.
        """
        self._call(lambda native: native.cancel())

    def resume(self) -> None:
        """Lets calls wait again after cancel."""
        self._call(lambda native: native.resume())

    def process_memory(self, pid: int, fields: int = 0) -> ProcessMemory:
        """Host memory of a process. `fields`: ProcessMemoryField bits; 0: those that are cheap."""
        return make_process_memory(self._call(lambda native: native.process_memory(pid, fields)))

    def own_memory(self, fields: int = 0) -> ProcessMemory:
        """Host memory of this process. `fields`: ProcessMemoryField bits; 0: the cheap ones."""
        return make_process_memory(self._call(lambda native: native.own_memory(fields)))

    def system_memory(self, fields: int = 0) -> SystemMemory:
        """The host's memory and the limit on this process. `fields`: SystemMemoryField bits; 0: all."""
        return make_system_memory(self._call(lambda native: native.system_memory(fields)))

    def scan(self) -> DeviceScan:
        """Asks every source for its devices, as a snapshot does; the other methods use the result.

        DeviceScan(count, generation): the number of device indexes of this context, which never shrinks, and
        a number that changes when a device is added, is gone or comes back. 0 devices: there certainly is
        none. Where none is known and a source failed (a driver that does not match, a broken library), its
        error is raised; a scan that fails changes nothing.
        """
        return DeviceScan(*self._read(lambda native: native.scan()))

    def find_device(self, key: str) -> int:
        """The index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0", "luid:<hex>",
        "render:<minor>" or "driver:<vendor>:<the vendor's index>".

        ArgumentError: no such kind of key. NoDeviceError: no device of the last scan has it.
        """
        return self._read(lambda native: native.find_device(key))

    def device(self, device_index: int, fields: int = 0) -> Device:
        """Identity of a device. One that is lost or asleep is reported by ``state``. `fields`: DeviceField bits;
        0: all.

        It is from the last scan, ``age`` seconds ago. NoDeviceError: no device has had the index.
        """
        return make_device(self._read(lambda native: native.device(device_index, fields)))

    def devices(self) -> tuple[Device, ...]:
        """The identities of all devices, by index, after a scan."""
        return tuple([self.device(index) for index in range(self.scan().count)])

    def pool(self, device_index: int, kind: int = PoolKind.MAIN, instance: int = 0, fields: int = 0) -> Pool:
        """Memory of a device; `instance` from 1: a part of the pool. `fields`: PoolField bits; 0: all of them.

        UnsupportedError: it has no such pool, or no values for it.
        """
        return make_pool(self._read(lambda native: native.pool(device_index, kind, instance, fields)))

    def telemetry(self, device_index: int, fields: int = 0) -> Telemetry:
        """Load, temperature and power. `fields`: TelemetryField bits; 0: all that are cheap."""
        return make_telemetry(self._read(lambda native: native.telemetry(device_index, fields)))

    def metric(self, device_index: int, metric: int, instance: int = 0, fields: int = 0) -> Metric:
        """One number of the whole device; `instance` selects one of several. `fields`: METRIC_HAS bits; 0: all.

        UnsupportedError: not supported by this device or driver.
        """
        return make_metric(self._read(lambda native: native.metric(device_index, metric, instance, fields)))

    def usage(self, device_index: int, pid: int, fields: int = 0) -> Usage:
        """What a process uses on a device; `pid` is as the driver counts it. `fields`: UsageField bits; 0: all.

        NoProcessError: the driver lists no such process on the device.
        """
        return make_usage(self._read(lambda native: native.usage(device_index, pid, fields)))

    def own_usage(self, device_index: int, fields: int = 0) -> Usage:
        """What this process uses on a device; 0 bytes is reported only where the driver can know it.
        `fields`: UsageField bits; 0: all."""
        return make_usage(self._read(lambda native: native.own_usage(device_index, fields)))

    def snapshot(self, collect: int = 0, *, device_index: int | None = None,
                 pid: int | None = None, deadline: Duration = 0) -> Snapshot:
        """Takes a snapshot. For values that could not be read it has diagnostics; they are no errors.

        collect: Collect bits; 0: MEMORY, DEVICES, POOLS and SELF.
        device_index: only of this device. NoDeviceError: no device has had the index.
        pid: only the usages of this process.
        deadline: 0: the context's.
        """
        flags, index_or_0, pid_or_0 = _restrict_snapshot(device_index, pid)
        return self.take(flags, collect, index_or_0, pid_or_0, deadline)

    def take(self, flags: int = 0, collect: int = 0, device_index: int = 0, pid: int = 0,
             deadline: Duration = 0) -> Snapshot:
        """The same with the fields of hmn_snapshot_options. `flags`: SnapshotFlag."""
        deadline_ns = nanoseconds("deadline", deadline)
        return make_snapshot(self._read(
            lambda native: native.take(flags, collect, device_index, pid, deadline_ns)))

    def sampler(self, collect: int = 0, *, interval: Duration = 0, process_interval: Duration = 0,
                capacity: int = 0, flags: int = 0, device_index: int | None = None,
                pid: int | None = None, deadline: Duration = 0) -> Sampler:
        """A sampler, not started yet. Zero is the default of each option.

        collect: Collect bits; 0: DEVICES, POOLS and TELEMETRY.
        interval: from one snapshot to the next; default 1 s.
        process_interval: the same for those with processes; default 1 s.
        capacity: snapshots kept until they are pulled; default 64. RangeError: above 65536.
        flags: SamplerFlag bits.
        device_index, pid, deadline: as for snapshot.
        """
        snapshot_flags, index_or_0, pid_or_0 = _restrict_snapshot(device_index, pid)
        intervals = nanoseconds("interval", interval), nanoseconds("process_interval", process_interval)
        deadline_ns = nanoseconds("deadline", deadline)
        return Sampler(self._call(lambda native: native.sampler(
            flags, *intervals, capacity, snapshot_flags, collect, index_or_0, pid_or_0, deadline_ns)))

    def tracker(self, device_index: int, limit_bytes: int | None = None, *,
                tag_capacity: int = 0) -> Tracker:
        """A tracker whose would_fit also asks a device. Touches no driver.

        limit_bytes: None is no limit, 0 allows nothing. tag_capacity: 0 is 64. RangeError: above 65536.
        """
        return Tracker._from_native(self._call(
            lambda native: native.tracker(device_index, *limit_arguments(limit_bytes), tag_capacity)))

    def spill(self, device_index: int = 0, *, episode_capacity: int = 0,
              dedicated_threshold_bytes: int = 0, growth_bytes: int = 0) -> Spill:
        """A detector of device memory that moves to the host. No driver is asked yet.

        episode_capacity: episodes kept; default 1024. RangeError: above 65536.
        dedicated_threshold_bytes: default 85 % of the device's memory.
        growth_bytes: over the first observation; default 256 MiB.
        """
        return Spill(native=self._call(lambda native: native.spill(
            device_index, episode_capacity, dedicated_threshold_bytes, growth_bytes)))

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Closes the context; closing it again is fine. Calls in other threads end first."""
        self._handle.close()

    def __enter__(self) -> Context:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
