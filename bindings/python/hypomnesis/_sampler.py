# SPDX-License-Identifier: MIT OR Apache-2.0
"""Snapshots on a schedule."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from types import TracebackType

from ._error import EmptyError, StateError
from ._handle import Handle
from ._native import raw
from ._pool import Pool, make_pool
from ._record import maker
from ._snapshot import Snapshot, make_snapshot
from ._telemetry import Telemetry, make_telemetry


class SamplerFlag(IntFlag):
    """How a sampler goes about it."""

    PEAKS_ONLY = raw.SAMPLER_PEAKS_ONLY  # keep no snapshots: latest figures and peaks alone


class SamplerState(IntEnum):
    """Where a sampler is in its life, which has one way."""

    IDLE = raw.SAMPLER_IDLE
    RUNNING = raw.SAMPLER_RUNNING
    STOPPED = raw.SAMPLER_STOPPED


@dataclass(frozen=True, slots=True)
class SamplerInfo:
    """How a sampler fares."""

    notes: int  # Note
    state: int  # SamplerState
    pending: int  # snapshots that wait to be pulled
    last_status: int | None  # Status of the last try; None: there was none
    taken_count: int
    dropped_count: int  # unread, to make room
    late_count: int  # left out since the snapshot before took too long
    failed_count: int  # tries that gave no snapshot
    last_monotonic_ns: int | None  # when the last try was begun


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest figures that a sampler has seen, each for itself."""

    notes: int  # Note: of the reading that used_bytes is from
    backend: int  # Backend: so too
    device_index: int
    pid: int  # 0: of the device
    accounting: int  # Accounting: what used_bytes counts
    used_bytes: int | None  # a device: of its main pool
    host_pool_bytes: int | None
    host_resident_bytes: int | None  # of a process: RSS
    used_monotonic_ns: int | None  # when used_bytes was seen first


make_sampler_info = maker(SamplerInfo)
make_peak = maker(Peak)

_BEAT_MS = 200  # how long Ctrl-C may go unheard


class Sampler:
    """A thread that takes snapshots on a schedule. Context.sampler makes one.

    Use it with ``with``, which starts and closes it, and iterate over it:

        with context.sampler(interval_ms=100) as sampler:
            for snapshot in sampler:
                print(snapshot.devices[0].telemetry)

    Any thread may use it at once. It outlives its context. In a forked child its methods raise
    ForkedError.
    """

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, native: raw.Sampler) -> None:
        self._handle = Handle(native, "sampler")

    def start(self) -> None:
        """Starts it, once in its life. StateError: it was started before. UnsupportedError: the
        context has ContextFlag.NO_THREADS."""
        self._handle.use().start()

    def stop(self) -> None:
        """Stops it for good, and wakes those that wait in next. Waits for no driver. StateError: it
        was never started."""
        self._handle.use().stop()

    def next(self, timeout_ms: int) -> Snapshot | None:
        """The oldest snapshot that nobody has pulled; None when none came in time.

        StateError: none will come. It is not started, it is stopped and all were pulled, or it keeps
        none.
        """
        try:
            return make_snapshot(self._handle.use().next(timeout_ms))
        except EmptyError:
            return None

    def info(self) -> SamplerInfo:
        """How it fares."""
        return make_sampler_info(self._handle.use().info())

    def latest_pool(self, device_index: int) -> Pool | None:
        """The main pool as the latest snapshot has it: asks no driver and waits for nobody.

        None: there is none. NoDeviceError: no snapshot has had a device of that index.
        """
        values = self._handle.use().latest_pool(device_index)
        return None if values is None else make_pool(values)

    def latest_telemetry(self, device_index: int) -> Telemetry | None:
        """Load, temperature and power in the same way."""
        values = self._handle.use().latest_telemetry(device_index)
        return None if values is None else make_telemetry(values)

    def peak(self, device_index: int, pid: int) -> Peak:
        """The highest that a process has used of a device.

        NoProcessError: it was not seen there. RangeError: pid is 0.
        """
        return make_peak(self._handle.use().peak(device_index, pid))

    def device_peak(self, device_index: int) -> Peak | None:
        """The highest that was used of a device; None: no snapshot has had its figures."""
        values = self._handle.use().device_peak(device_index)
        return None if values is None else make_peak(values)

    def __iter__(self) -> Sampler:
        return self

    def __next__(self) -> Snapshot:
        """The next snapshot, however long it takes; the end once it is stopped."""
        while True:
            try:
                pulled = self.next(_BEAT_MS)
            except StateError:
                if self.info().state == SamplerState.STOPPED:
                    raise StopIteration from None
                raise
            if pulled is not None:
                return pulled

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Stops it and frees it; more than once is fine. Waits for no driver."""
        if self.closed:
            return
        try:
            self.stop()
        except StateError:
            pass
        self._handle.close()

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
