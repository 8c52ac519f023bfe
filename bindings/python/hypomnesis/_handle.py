# SPDX-License-Identifier: MIT OR Apache-2.0
"""A native handle until it is closed."""
from __future__ import annotations

import os
import threading
from typing import Generic, TypeVar

from ._error import ClosedError

T = TypeVar("T")

_changing = threading.RLock()


def _renew_lock() -> None:
    """Another thread may have held the lock at the moment of a fork."""
    global _changing
    _changing = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Handle(Generic[T]):
    """Holds one reference to a native object.

    Whoever calls a method of the object holds another for that long, so that closing never takes it
    from under a call in another thread: the last reference to go ends it.
    """

    __slots__ = ("_native", "_owner")

    def __init__(self, native: T, owner: str) -> None:
        self._native: T | None = native
        self._owner = owner

    def use(self) -> T:
        """The object; ClosedError after close."""
        native = self._native
        if native is None:
            raise ClosedError(f"this {self._owner} is closed")
        return native

    def replace(self, old: T, new: T) -> T:
        """Puts `new` in the place of `old`, unless someone was first; what is there now."""
        with _changing:
            if self.use() is old:
                self._native = new
            return self.use()

    @property
    def closed(self) -> bool:
        return self._native is None

    def close(self) -> None:
        """Gives the reference up; more than once is fine."""
        with _changing:
            self._native = None
