# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls that may wait for a driver. They run on helper threads, so that Ctrl-C or a cancelled task ends the waiting of
its caller alone: the driver's call goes on there, and later readings use its answer."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

_MAX_IDLE = 8
_idle: list[_Helper] = []
os.register_at_fork(after_in_child=_idle.clear)


class _Helper(threading.Thread):
    """A thread that makes calls, one after the other."""

    def __init__(self) -> None:
        super().__init__(name="hypomnesis", daemon=True)
        self.calls: SimpleQueue[Callable[[], Callable[[], None]]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            deliver = self.calls.get()()
            is_kept = len(_idle) < _MAX_IDLE
            if is_kept:
                _idle.append(self)
            deliver()
            del deliver
            if not is_kept:
                return


class _Call(Generic[T]):
    """A call, and later its result."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error

    def take_result(self) -> T:
        try:
            if self.error is not None:
                raise self.error
            return self.result
        finally:
            self.error = None  # which refers to this frame


def _start(call: _Call[T], deliver: Callable[[], None]) -> None:
    """Runs a call on a helper thread, which then calls `deliver`."""
    def work() -> Callable[[], None]:
        call.run()
        return deliver

    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
    helper.calls.put(work)


def wait(function: Callable[[], T]) -> T:
    """Calls a function; in the main thread, signal handlers run while it waits."""
    if threading.get_ident() != threading.main_thread().ident:
        return function()
    call, done = _Call(function), threading.Lock()
    done.acquire()
    _start(call, done.release)
    done.acquire()
    return call.take_result()


async def read(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls a function of this package without blocking the event loop:

        telemetry = await hypomnesis.read(context.telemetry, 0)

    It runs on a thread of its own, not in the loop's pool. A cancelled task leaves the call to its deadline.
    """
    import asyncio
    loop = asyncio.get_running_loop()
    call, done = _Call(lambda: function(*args, **kwargs)), loop.create_future()

    def set_done() -> None:
        if not done.done():
            done.set_result(None)

    def deliver() -> None:
        try:
            loop.call_soon_threadsafe(set_done)
        except RuntimeError:  # the loop was closed
            pass

    _start(call, deliver)
    await done
    return call.take_result()
