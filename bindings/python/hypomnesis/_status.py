# SPDX-License-Identifier: MIT OR Apache-2.0
"""What came of a call."""
from __future__ import annotations

from enum import IntEnum

from ._native import raw


class Status(IntEnum):
    """A result of a call of the C library: 0 is success, a negative number a failure."""

    OK = raw.OK
    ARGUMENT = raw.E_ARGUMENT  # an argument is empty or malformed
    STRUCT_SIZE = raw.E_STRUCT_SIZE  # this package is newer than the library
    UNKNOWN_FLAG = raw.E_UNKNOWN_FLAG  # a bit is set that the library does not know
    RANGE = raw.E_RANGE  # an index past the end, or a number outside what is allowed
    NO_MEMORY = raw.E_NO_MEMORY  # the host's memory is exhausted
    UNSUPPORTED = raw.E_UNSUPPORTED  # this system, device or driver has no such value
    NO_SOURCE = raw.E_NO_SOURCE  # no library, no driver, no tool gives this value here
    NO_DEVICE = raw.E_NO_DEVICE  # no device of that index or key
    NO_PROCESS = raw.E_NO_PROCESS  # no such process, or it has exited
    PERMISSION = raw.E_PERMISSION  # the system or the driver refused
    TIMEOUT = raw.E_TIMEOUT  # the driver did not answer within the deadline
    DEVICE_LOST = raw.E_DEVICE_LOST  # unplugged, fallen off, reset
    BACKEND = raw.E_BACKEND  # a driver or tool answered with an error, or with nonsense
    LIMIT = raw.E_LIMIT  # a limit was reached
    OVERFLOW = raw.E_OVERFLOW  # the result does not fit 64 bits
    FORKED = raw.E_FORKED  # the handle was made by the parent of this process
    BUFFER = raw.E_BUFFER  # the buffer is too small
    EMPTY = raw.E_EMPTY  # it was not asked for, or there is nothing to give
    INTERNAL = raw.E_INTERNAL  # a defect of the library; please report it
    ASLEEP = raw.E_ASLEEP  # answering would have to wake the device
    STATE = raw.E_STATE  # the right call at the wrong moment


def status_name(status: int) -> str:
    """A status' name in C, for instance "HMN_E_RANGE"; "HMN_E_?" for an unknown number."""
    return raw.status_name(status)
