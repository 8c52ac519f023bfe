# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices, in a snapshot with their pools, telemetry, usages and metrics."""
from __future__ import annotations

import dataclasses
from typing import Any

from ._record import maker
from ._records import Device, Metric, Pool, Telemetry, Usage


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceScan:
    """Number of device indexes, and a number that changes when a device is added, is gone or comes back."""
    count: int
    generation: int


_make = maker(Device)


def make_device(values: tuple[Any, ...], pools: tuple[Pool, ...] = (),
                telemetry: Telemetry | None = None, own_usage: Usage | None = None,
                usages: tuple[Usage, ...] = (), metrics: tuple[Metric, ...] = ()) -> Device:
    return _make((*values, pools, telemetry, own_usage, usages, metrics))
