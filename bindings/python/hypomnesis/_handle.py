# SPDX-License-Identifier: MIT OR Apache-2.0
"""A native handle until it is closed."""
from __future__ import annotations

import os
import threading
from typing import Generic, TypeVar

from ._error import ClosedError

T = TypeVar("T")

_lock = threading.RLock()


def _renew_lock() -> None:
    """Another thread may have held the lock during a fork."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Handle(Generic[T]):
    """Holds one reference to a native object.

    A caller of one of the object's methods holds another during the call. Closing thus never destroys
    the object while another thread uses it: it ends with its last reference.
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
        """Replaces `old` by `new`, unless another thread did so first; returns the present object."""
        with _lock:
            if self.use() is old:
                self._native = new
            return self.use()

    @property
    def closed(self) -> bool:
        return self._native is None

    def close(self) -> None:
        """Drops the reference; closing again is fine."""
        with _lock:
            self._native = None
