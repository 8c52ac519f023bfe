# SPDX-License-Identifier: MIT OR Apache-2.0
"""Durations: seconds, or a timedelta."""
from __future__ import annotations

import math
from datetime import timedelta

Duration = float | timedelta

UNLIMITED = math.inf  # no limit
IMMEDIATE = 1e-9  # as an option: no time at all
NS_UNLIMITED = 2**64 - 1


def nanoseconds(name: str, duration: Duration) -> int:
    """The duration in the native layer's unit. OverflowError: it is less than 0."""
    if isinstance(duration, timedelta):
        count = duration // timedelta(microseconds=1) * 1000
    elif math.isnan(duration):
        raise ValueError(f"{name}: nan is no duration")
    elif duration > NS_UNLIMITED / 1e9:
        return NS_UNLIMITED
    else:
        count = round(duration * 10**9) if duration > 0 else math.floor(duration)
    if count < 0:
        raise OverflowError(f"{name}: {duration} is less than 0")
    return min(count, NS_UNLIMITED)
