# SPDX-License-Identifier: MIT OR Apache-2.0
"""Durations: seconds, or a timedelta."""
from __future__ import annotations

import math
from datetime import timedelta

from ._constants import Status
from ._error import ArgumentError

Duration = float | timedelta

UNLIMITED = math.inf  # no limit
IMMEDIATE = 1e-9  # as an option: no time at all
NS_UNLIMITED = 2**64 - 1


def nanoseconds(name: str, duration: Duration) -> int:
    """The duration in the native layer's unit. ArgumentError: it is none, or less than 0."""
    if isinstance(duration, timedelta):
        return nanoseconds(name, duration.total_seconds())
    try:
        if math.isnan(duration) or duration < 0:
            raise ValueError
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: seconds or a timedelta, not less than 0, is expected, not {duration!r}",
                            Status.ARGUMENT) from None
    return NS_UNLIMITED if duration > NS_UNLIMITED / 1e9 else round(duration * 10**9)
