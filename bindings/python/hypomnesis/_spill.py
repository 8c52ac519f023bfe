# SPDX-License-Identifier: MIT OR Apache-2.0
"""Device memory that moves to the host."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from types import TracebackType

from ._handle import Handle
from ._native import raw
from ._record import maker
from ._snapshot import Snapshot


class SpillState(IntFlag):
    """Where a detector stands."""

    MEASURABLE = raw.SPILL_MEASURABLE  # at least one observation had its figures
    NOW = raw.SPILL_NOW  # the last one spilled
    EVER = raw.SPILL_EVER  # one did


class SpillRule(IntFlag):
    """Which rule held."""

    SHARED = raw.SPILL_BY_SHARED  # the device is full, and the host memory that it uses has grown
    EVICTED = raw.SPILL_BY_EVICTED  # what drivers say was moved out has grown


@dataclass(frozen=True, slots=True)
class SpillInfo:
    """What a detector has seen."""

    notes: int  # Note: of the last observation
    backend: int  # Backend: of the last observation; NONE: it was fed
    device_index: int
    state: int  # SpillState
    rules: int  # SpillRule: of the last observation
    status: int  # Status: OK, or why the last try gave no observation
    observation_count: int
    skipped_count: int
    episode_count: int  # ever begun
    first_episode: int  # lowest number that is still kept
    limit_bytes: int | None
    dedicated_bytes: int | None
    shared_bytes: int | None
    evicted_bytes: int | None
    peak_dedicated_bytes: int | None
    peak_shared_bytes: int | None
    peak_evicted_bytes: int | None
    baseline_shared_bytes: int | None
    baseline_evicted_bytes: int | None
    total_ns: int
    longest_ns: int | None
    longest_episode: int | None
    first_label: str | None
    message: str  # why status is what it is


@dataclass(frozen=True, slots=True)
class Episode:
    """Consecutive observations that spilled."""

    notes: int  # Note
    rules: int  # SpillRule: those that held in it
    number: int
    observation_count: int
    peak_shared_bytes: int
    peak_evicted_bytes: int | None
    start_monotonic_ns: int
    end_monotonic_ns: int | None
    duration_ns: int  # from its first observation to its last
    start_label: str
    end_label: str | None  # of the first observation after it; None: it goes on


make_spill_info = maker(SpillInfo)
make_episode = maker(Episode)


class Spill:
    """Detects device memory that moves to the host. Context.spill makes one that reads a device:

        with context.spill(0) as spill:
            spill.observe("step 1")
            print(spill.info().state & SpillState.NOW)

    Spill() alone reads none: it is fed, or observes snapshots. Any thread may use it at once.
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
        """Reads the device. UnsupportedError: it cannot tell; info() says so too."""
        self._handle.use().observe(label)

    def observe_snapshot(self, snapshot: Snapshot, label: str = "") -> None:
        """Takes the device of a snapshot with Collect.POOLS and Collect.PROCESSES.

        EmptyError: it has no figures. NoDeviceError: it has no such device."""
        self._handle.use().observe_snapshot(snapshot._handle.use(), label)

    def feed(self, dedicated_bytes: int, shared_bytes: int, *, limit_bytes: int | None = None,
             evicted_bytes: int | None = None, monotonic_ns: int = 0, label: str = "") -> None:
        """Takes figures from elsewhere. monotonic_ns 0: now."""
        flags = 0
        if limit_bytes is not None:
            flags |= raw.SPILL_SAMPLE_HAS_LIMIT
        if evicted_bytes is not None:
            flags |= raw.SPILL_SAMPLE_HAS_EVICTED
        self._handle.use().feed(flags, monotonic_ns, dedicated_bytes, shared_bytes, limit_bytes or 0,
                                evicted_bytes or 0, label)

    def info(self) -> SpillInfo:
        """What it has seen."""
        return make_spill_info(self._handle.use().info())

    def episode(self, number: int) -> Episode:
        """By its number, from 0. RangeError: it has not begun yet, or was dropped."""
        return make_episode(self._handle.use().episode(number))

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees it; more than once is fine. Waits for no driver."""
        self._handle.close()

    def __enter__(self) -> Spill:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
