# SPDX-License-Identifier: MIT OR Apache-2.0
"""A device with what a snapshot holds of it."""
from __future__ import annotations

from typing import Any

from ._record import maker
from ._records import Device, Metric, Pool, Telemetry, Usage


_make = maker(Device)


def make_device(values: tuple[Any, ...], pools: tuple[Pool, ...] = (),
                telemetry: Telemetry | None = None, own_usage: Usage | None = None,
                usages: tuple[Usage, ...] = (), metrics: tuple[Metric, ...] = ()) -> Device:
    return _make((*values, pools, telemetry, own_usage, usages, metrics))
