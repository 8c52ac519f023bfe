# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bookkeeping of a budget."""
from __future__ import annotations

from types import TracebackType

from ._handle import Handle
from ._native import raw
from ._records import Tag, TrackerInfo, make_tag, make_tracker_info
from ._wait import wait


def limit_arguments(limit_bytes: int | None) -> tuple[int, int]:
    """The arguments of raw.Tracker for a limit: flags and bytes."""
    return (0, 0) if limit_bytes is None else (raw.TRACKER_LIMITED, limit_bytes)


class Tracker:
    """Bookkeeping of a program's budget, which allocates nothing itself. Context.tracker makes one that
    also asks a device.

        with Tracker(8 << 30) as tracker:
            tracker.allocate(hypomnesis.estimate_tensor([4096, 4096], Dtype.F16))

    Any number of threads may use it at the same time; the limit holds at every instant. It outlives its
    context. A forked child has a copy of its own.
    """

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, limit_bytes: int | None = None, *, tag_capacity: int = 0) -> None:
        """limit_bytes: None is no limit, 0 allows nothing. tag_capacity: most tags; 0 is 64."""
        self._handle = Handle(raw.Tracker(*limit_arguments(limit_bytes), tag_capacity), "tracker")

    @classmethod
    def _from_native(cls, native: raw.Tracker) -> Tracker:
        tracker = cls.__new__(cls)
        tracker._handle = Handle(native, "tracker")
        return tracker

    def allocate(self, count: int, tag: int = 0) -> None:
        """Takes bytes from the budget, and counts them under a tag. LimitError: they would exceed the limit.
        RangeError: no such tag."""
        self._handle.use().allocate(count, tag)

    def release(self, count: int, tag: int = 0) -> None:
        """Gives bytes back. RangeError: more than is allocated, or no such tag."""
        self._handle.use().release(count, tag)

    def would_fit(self, count: int) -> bool:
        """Whether bytes would fit now, within the limit and on a linked device.

        DeadlineError, AsleepError, DeviceLostError and others: the device does not answer.
        ForkedError: it is linked to a device and belongs to the parent of this process.
        """
        native = self._handle.use()
        return wait(lambda: native.would_fit(count)) == 1

    def set_limit(self, limit_bytes: int | None) -> None:
        """Sets another limit; None removes it, 0 allows nothing. LimitError: more is allocated."""
        self._handle.use().set_limit(*limit_arguments(limit_bytes))

    def reset(self) -> None:
        """Forgets what is allocated, and the peaks; limit and tags stay."""
        self._handle.use().reset()

    def tag(self, name: str) -> int:
        """The number of the tag with that name, which is created if there is none. LimitError: there are
        tag_capacity tags already. ArgumentError: empty, or longer than 63 bytes."""
        return self._handle.use().tag(name)

    def info(self) -> TrackerInfo:
        """State of the budget."""
        return make_tracker_info(self._handle.use().info())

    def read_tag(self, tag: int) -> Tag:
        """What was allocated under a tag. RangeError: no such tag (1 up to tag_count)."""
        return make_tag(self._handle.use().read_tag(tag))

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def close(self) -> None:
        """Frees it; closing again is fine."""
        self._handle.close()

    def __enter__(self) -> Tracker:
        self._handle.use()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
