# SPDX-License-Identifier: MIT OR Apache-2.0
"""Snapshots on a schedule."""
from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ._constants import SamplerState, Status
from ._duration import NS_UNLIMITED, UNLIMITED, Duration, nanoseconds
from ._error import ClosedError, DeadlineError, EmptyError, Error, StateError
from ._handle import Handle
from ._native import raw
from ._records import (Peak, Pool, SamplerInfo, Telemetry, make_peak, make_pool, make_sampler_info,
                       make_telemetry)
from ._snapshot import Snapshot, make_snapshot

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock

_WAIT_SLICE_NS = 100_000_000  # longest delay of Ctrl-C


def _pull(native: raw.Sampler, timeout_ns: int) -> Snapshot | None:
    """The oldest snapshot; None at the end. EmptyError: none came in time."""
    try:
        return make_snapshot(native.next(timeout_ns))
    except StateError:
        if make_sampler_info(native.info()).state != SamplerState.STOPPED:
            raise
        return None


async def _wait_until_readable(loop: AbstractEventLoop, descriptor: int) -> None:
    ready = loop.create_future()

    def set_ready() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, set_ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


class Sampler:
    """A thread that takes snapshots on a schedule. Context.sampler makes one.

    Use it with ``with``, which starts and closes it, and iterate over it:

        with context.sampler(interval=0.1) as sampler:
            for snapshot in sampler:
                print(snapshot.devices[0].telemetry)

    In a coroutine, use ``async for``, or ``await anext(sampler)`` for one snapshot. Any thread and any task may use
    it at once; each snapshot goes to one of those that wait. It outlives its context. In a forked child its
    methods raise ForkedError.
    """

    __slots__ = ("_handle", "_turns", "__weakref__")

    def __init__(self, native: raw.Sampler) -> None:
        self._handle = Handle(native, "sampler")
        self._turns: WeakKeyDictionary[AbstractEventLoop, Lock] = WeakKeyDictionary()

    def start(self) -> None:
        """Starts it; this works once. StateError: it was started before. UnsupportedError: the context has
        ContextFlag.NO_THREADS."""
        self._handle.use().start()

    def stop(self) -> None:
        """Stops it permanently, and wakes callers that wait in next. Waits for no driver. StateError: it was
        never started."""
        self._handle.use().stop()

    def next(self, timeout: Duration) -> Snapshot | None:
        """The oldest snapshot that was not pulled yet; None at the end: it is stopped, and all were pulled.
        `timeout`: seconds or a timedelta; 0 does not wait, UNLIMITED waits without a limit.

        DeadlineError, a TimeoutError: none came in time. StateError: it is not started, or keeps none.
        CancelledError: none came, and the context was cancelled.
        """
        native, remaining_ns = self._handle.use(), nanoseconds("timeout", timeout)
        while True:  # Python handles signals only between waits
            try:
                return _pull(native, min(remaining_ns, _WAIT_SLICE_NS))
            except EmptyError:
                if remaining_ns <= _WAIT_SLICE_NS:
                    raise DeadlineError(f"timeout: no snapshot within {timeout} s", Status.TIMEOUT) from None
            if remaining_ns != NS_UNLIMITED:
                remaining_ns -= _WAIT_SLICE_NS

    def handle(self) -> int:
        """The handle for an event loop: a descriptor to poll, on Windows a HANDLE, ready whenever next(0) has an
        answer. The sampler owns it: do not close it, and wait for it only as long as the sampler is open."""
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
        snapshot = self.next(UNLIMITED)
        if snapshot is None:
            raise StopIteration
        return snapshot

    def __aiter__(self) -> Sampler:
        return self

    async def __anext__(self) -> Snapshot:
        """The same in a task. Tasks of one loop are served in turn; cancelling one loses no snapshot."""
        import asyncio
        loop, native = asyncio.get_running_loop(), self._handle.use()  # the descriptor is open as long as `native`
        async with self._turns.setdefault(loop, asyncio.Lock()):
            while True:
                try:
                    snapshot = _pull(native, 1)  # 0 would hide that the context is cancelled
                except EmptyError:
                    await _wait_until_readable(loop, native.handle())
                    continue
                if snapshot is None:
                    raise StopAsyncIteration
                return snapshot

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
