# SPDX-License-Identifier: MIT OR Apache-2.0
"""Device memory that moves to the host."""
from __future__ import annotations

from types import TracebackType

from ._duration import Duration, nanoseconds
from ._handle import Handle
from ._native import raw
from ._records import Episode, SpillInfo, make_episode, make_spill_info
from ._snapshot import Snapshot, require_native
from ._wait import wait


class Spill:
    """Detects device memory that moves to the host. Context.spill makes a detector that reads a device:

        with context.spill(0) as spill:
            spill.observe("step 1")
            print(spill.info().state & SpillState.NOW)

    Spill() reads no device: it takes values by feed, or snapshots. Any number of threads may use it at the
    same time.
    """

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, device_index: int = 0, *, episode_capacity: int = 0,
                 dedicated_threshold_bytes: int = 0, growth_bytes: int = 0,
                 native: raw.Spill | None = None) -> None:
        if native is None:
            native = raw.lone_spill(device_index, episode_capacity, dedicated_threshold_bytes,
                                    growth_bytes)
        self._handle = Handle(native, "spill detector")

    def observe(self, label: str = "") -> None:
        """Reads the device. UnsupportedError: the device does not report it; see also info()."""
        native = self._handle.use()
        wait(lambda: native.observe(label))

    def observe_snapshot(self, snapshot: Snapshot, label: str = "") -> None:
        """Reads the device from a snapshot with Collect.POOLS and Collect.PROCESSES.

        EmptyError: the snapshot has no values of it. NoDeviceError: the snapshot does not have it."""
        self._handle.use().observe_snapshot(require_native(snapshot), label)

    def feed(self, dedicated_bytes: int, shared_bytes: int, *, limit_bytes: int | None = None,
             evicted_bytes: int | None = None, monotonic: Duration = 0, label: str = "") -> None:
        """Takes values from another source. monotonic: when they were read; 0 is now."""
        flags = 0
        if limit_bytes is not None:
            flags |= raw.SPILL_SAMPLE_HAS_LIMIT
        if evicted_bytes is not None:
            flags |= raw.SPILL_SAMPLE_HAS_EVICTED
        self._handle.use().feed(flags, nanoseconds("monotonic", monotonic), dedicated_bytes, shared_bytes,
                                0 if limit_bytes is None else limit_bytes,
                                0 if evicted_bytes is None else evicted_bytes, label)

    def info(self) -> SpillInfo:
        """What it has observed so far."""
        return make_spill_info(self._handle.use().info())

    def episode(self, number: int) -> Episode:
        """An episode by its number, from 0. RangeError: it has not begun yet, or was dropped."""
        return make_episode(self._handle.use().episode(number))

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees it; closing again is fine. Waits for no driver."""
        self._handle.close()

    def __enter__(self) -> Spill:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
