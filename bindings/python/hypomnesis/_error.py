# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exceptions of failed calls."""
from __future__ import annotations

import re

from ._constants import Backend, NativeDomain, Reason, Status
from ._native import raw
from ._status import status_name


class Error(Exception):
    """A call of the C library failed. The text names the problem and the remedy.

    backend: the Backend that failed; NONE: the library itself refused.
    native_domain: the origin of native_code.
    native_code: None when there is none.
    reason: why the value is missing; UNKNOWN also where the call itself was wrong.
    """

    def __init__(self, message: str, status: int = Status.INTERNAL, backend: int = 0,
                 native_domain: int = 0, native_code: int | None = None,
                 reason: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.status = Status(status)
        self.backend = Backend(backend)
        self.reason = Reason(reason)
        self.native_domain = NativeDomain(native_domain)
        self.native_code = None if native_domain == NativeDomain.NONE else native_code

    @property
    def status_name(self) -> str:
        """The status' name in C, for instance "HMN_E_RANGE"."""
        return status_name(self.status)


class ArgumentError(Error, ValueError, TypeError):
    """A wrong argument, which the message names: of another type, malformed, or out of range."""


class RangeError(ArgumentError, IndexError):
    """An index past the end, or a number outside what the library allows."""


class OutOfMemoryError(Error, MemoryError):
    """The host's memory is exhausted."""


class UnsupportedError(Error):
    """This system, device or driver has no such value."""


class NoSourceError(Error):
    """No library, driver or tool on this system reports the value."""


class NoDeviceError(Error, LookupError):
    """No device of that index or key."""


class NoProcessError(Error, ProcessLookupError):
    """No such process, or it has exited."""


class RefusedError(Error, PermissionError):
    """The system or the driver refused."""


class DeadlineError(Error, TimeoutError):
    """The driver did not answer within the deadline."""


class DeviceLostError(Error):
    """The device is gone: unplugged, fallen off the bus, or reset."""


class AsleepError(Error):
    """Answering would have to wake the device."""


class BackendError(Error):
    """A driver or tool answered with an error, or with nonsense."""


class LimitError(Error):
    """A limit was reached."""


class TooLargeError(Error, OverflowError):
    """The result does not fit 64 bits."""


class ForkedError(Error):
    """The handle was made by the parent of this process."""


class EmptyError(Error, LookupError):
    """It was not requested, or there is no value."""


class StateError(Error):
    """The call is not allowed in the present state."""


class CancelledError(Error):
    """The context was cancelled, and the call would have to wait."""


class InternalError(Error):
    """A defect of the library or of this package, or a package that is newer than the library."""


class ClosedError(ValueError):
    """A context or snapshot was used after its close: a mistake of the caller, not a failed call."""


ERROR_CLASSES: dict[int, type[Error]] = {
    Status.ARGUMENT: ArgumentError,
    Status.STRUCT_SIZE: InternalError,
    Status.UNKNOWN_FLAG: ArgumentError,
    Status.RANGE: RangeError,
    Status.NO_MEMORY: OutOfMemoryError,
    Status.UNSUPPORTED: UnsupportedError,
    Status.NO_SOURCE: NoSourceError,
    Status.NO_DEVICE: NoDeviceError,
    Status.NO_PROCESS: NoProcessError,
    Status.PERMISSION: RefusedError,
    Status.TIMEOUT: DeadlineError,
    Status.DEVICE_LOST: DeviceLostError,
    Status.BACKEND: BackendError,
    Status.LIMIT: LimitError,
    Status.OVERFLOW: TooLargeError,
    Status.FORKED: ForkedError,
    Status.BUFFER: InternalError,
    Status.EMPTY: EmptyError,
    Status.INTERNAL: InternalError,
    Status.ASLEEP: AsleepError,
    Status.STATE: StateError,
    Status.CANCELLED: CancelledError,
}


def make_error(message: str, status: int, backend: int, native_domain: int,
               native_code: int, reason: int) -> Error:
    """The exception for a failure; Error itself for a status that this package does not know."""
    error_class = ERROR_CLASSES.get(status, Error)
    message = re.sub(r"^(\w+)_ns:", r"\1:", message)  # options have no unit in their name here
    return error_class(message, status, backend, native_domain, native_code, reason)


raw.raise_with(make_error)
