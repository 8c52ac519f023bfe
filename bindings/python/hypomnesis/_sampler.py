# SPDX-License-Identifier: MIT OR Apache-2.0
"""Snapshots on a schedule."""
from __future__ import annotations

from types import TracebackType

from ._constants import SamplerState
from ._duration import NS_UNLIMITED, UNLIMITED, Duration, nanoseconds
from ._error import ClosedError, EmptyError, Error, StateError
from ._handle import Handle
from ._native import raw
from ._records import (Peak, Pool, SamplerInfo, Telemetry, make_peak, make_pool, make_sampler_info,
                       make_telemetry)
from ._snapshot import Snapshot, make_snapshot

_WAIT_SLICE_NS = 200_000_000  # longest delay of Ctrl-C


class Sampler:
    """A thread that takes snapshots on a schedule. Context.sampler makes one.

    Use it with ``with``, which starts and closes it, and iterate over it:

        with context.sampler(interval=0.1) as sampler:
            for snapshot in sampler:
                print(snapshot.devices[0].telemetry)

    Any thread may use it at once. It outlives its context. In a forked child its methods raise
    ForkedError.
    """

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, native: raw.Sampler) -> None:
        self._handle = Handle(native, "sampler")

    def start(self) -> None:
        """Starts it; this works once. StateError: it was started before. UnsupportedError: the context has
        ContextFlag.NO_THREADS."""
        self._handle.use().start()

    def stop(self) -> None:
        """Stops it permanently, and wakes callers that wait in next. Waits for no driver. StateError: it was
        never started."""
        self._handle.use().stop()

    def next(self, timeout: Duration) -> Snapshot | None:
        """The oldest snapshot that was not pulled yet; None when none came in time. `timeout`: seconds or a
        timedelta; 0 does not wait, UNLIMITED waits without a limit.

        StateError: none will come, because it is not started, keeps none, or is stopped and all were
        pulled.
        """
        try:
            return self._next(timeout)
        except EmptyError:
            return None

    def _next(self, timeout: Duration) -> Snapshot:
        """Waits in slices, because Python handles signals only between them."""
        native, remaining_ns = self._handle.use(), nanoseconds("timeout", timeout)
        while remaining_ns > _WAIT_SLICE_NS:
            try:
                return make_snapshot(native.next(_WAIT_SLICE_NS))
            except EmptyError:
                remaining_ns -= 0 if remaining_ns == NS_UNLIMITED else _WAIT_SLICE_NS
        return make_snapshot(native.next(remaining_ns))

    def handle(self) -> int:
        """The handle for an event loop: a descriptor to poll, on Windows a HANDLE, ready whenever next(0) has an
        answer. The sampler owns it: do not close it."""
        return self._handle.use().handle()

    def info(self) -> SamplerInfo:
        """Status of the sampler."""
        return make_sampler_info(self._handle.use().info())

    def latest_pool(self, device_index: int) -> Pool | None:
        """The main pool in the latest snapshot. Asks no driver and never waits.

        None: there is none. NoDeviceError: no snapshot has had a device of that index.
        """
        values = self._handle.use().latest_pool(device_index)
        return None if values is None else make_pool(values)

    def latest_telemetry(self, device_index: int) -> Telemetry | None:
        """Load, temperature and power in the latest snapshot; otherwise as latest_pool."""
        values = self._handle.use().latest_telemetry(device_index)
        return None if values is None else make_telemetry(values)

    def peak(self, device_index: int, pid: int) -> Peak:
        """The most memory that a process has used on a device.

        NoProcessError: it was not seen there. RangeError: pid is 0.
        """
        return make_peak(self._handle.use().peak(device_index, pid))

    def device_peak(self, device_index: int) -> Peak | None:
        """The most memory that was used on a device; None: no snapshot has had its values."""
        values = self._handle.use().device_peak(device_index)
        return None if values is None else make_peak(values)

    def __iter__(self) -> Sampler:
        return self

    def __next__(self) -> Snapshot:
        """The next snapshot, without a time limit; iteration ends when the sampler is stopped."""
        try:
            return self._next(UNLIMITED)
        except StateError:
            if self.info().state == SamplerState.STOPPED:
                raise StopIteration from None
            raise

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Stops it and frees it; closing again is fine. Waits for no driver."""
        try:
            self.stop()
        except (ClosedError, Error):  # closed, maybe by another thread; never started; or of the parent process
            pass
        self._handle.close()

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
