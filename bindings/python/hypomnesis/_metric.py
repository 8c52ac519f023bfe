# SPDX-License-Identifier: MIT OR Apache-2.0
"""Single numbers of a device, each with its own source."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ._native import raw
from ._record import maker


class MetricId(IntEnum):
    """Which number of a device; the C header has what each counts."""

    UNKNOWN = raw.METRIC_UNKNOWN
    ENGINE_BUSY_NS = raw.METRIC_ENGINE_BUSY_NS
    ENGINE_PERCENT = raw.METRIC_ENGINE_PERCENT
    ENGINE_CAPACITY = raw.METRIC_ENGINE_CAPACITY
    TEMPERATURE = raw.METRIC_TEMPERATURE
    TEMPERATURE_LIMIT = raw.METRIC_TEMPERATURE_LIMIT
    FAN_RPM = raw.METRIC_FAN_RPM
    FAN_PERCENT = raw.METRIC_FAN_PERCENT
    POWER_WATTS = raw.METRIC_POWER_WATTS
    ENERGY_JOULES = raw.METRIC_ENERGY_JOULES
    CLOCK_MHZ = raw.METRIC_CLOCK_MHZ
    CLOCK_LIMIT_MHZ = raw.METRIC_CLOCK_LIMIT_MHZ
    VOLTAGE = raw.METRIC_VOLTAGE
    TEMPERATURE_SHUTDOWN = raw.METRIC_TEMPERATURE_SHUTDOWN
    POWER_LIMIT_WATTS = raw.METRIC_POWER_LIMIT_WATTS
    ECC_CORRECTED = raw.METRIC_ECC_CORRECTED
    ECC_UNCORRECTED = raw.METRIC_ECC_UNCORRECTED
    ROWS_REMAPPED = raw.METRIC_ROWS_REMAPPED
    LAST_FAULT = raw.METRIC_LAST_FAULT
    THROTTLE_NS = raw.METRIC_THROTTLE_NS
    PCIE_RX_BYTES = raw.METRIC_PCIE_RX_BYTES
    PCIE_TX_BYTES = raw.METRIC_PCIE_TX_BYTES
    PCIE_REPLAYS = raw.METRIC_PCIE_REPLAYS
    LINK_RX_BYTES = raw.METRIC_LINK_RX_BYTES
    LINK_TX_BYTES = raw.METRIC_LINK_TX_BYTES
    GROUP_VRAM_BYTES = raw.METRIC_GROUP_VRAM_BYTES
    GROUP_VRAM_LIMIT_BYTES = raw.METRIC_GROUP_VRAM_LIMIT_BYTES


class Engine(IntEnum):
    """Instances of ENGINE_BUSY_NS, ENGINE_PERCENT and ENGINE_CAPACITY."""

    UNKNOWN = raw.ENGINE_UNKNOWN
    GRAPHICS = raw.ENGINE_GRAPHICS
    COMPUTE = raw.ENGINE_COMPUTE
    COPY = raw.ENGINE_COPY
    DECODE = raw.ENGINE_DECODE
    ENCODE = raw.ENGINE_ENCODE
    VIDEO = raw.ENGINE_VIDEO
    OTHER = raw.ENGINE_OTHER
    MEMORY = raw.ENGINE_MEMORY


class Sensor(IntEnum):
    """Instances of TEMPERATURE, TEMPERATURE_LIMIT and TEMPERATURE_SHUTDOWN."""

    UNKNOWN = raw.SENSOR_UNKNOWN
    CORE = raw.SENSOR_CORE
    HOTSPOT = raw.SENSOR_HOTSPOT
    MEMORY = raw.SENSOR_MEMORY
    PACKAGE = raw.SENSOR_PACKAGE
    BOARD = raw.SENSOR_BOARD
    REGULATOR = raw.SENSOR_REGULATOR


class Power(IntEnum):
    """Instances of POWER_WATTS and ENERGY_JOULES."""

    UNKNOWN = raw.POWER_UNKNOWN
    AVERAGE = raw.POWER_AVERAGE
    INSTANT = raw.POWER_INSTANT
    PACKAGE = raw.POWER_PACKAGE
    MEMORY = raw.POWER_MEMORY
    BOARD = raw.POWER_BOARD


class PowerLimit(IntEnum):
    """Instances of POWER_LIMIT_WATTS."""

    UNKNOWN = raw.POWER_LIMIT_UNKNOWN
    CURRENT = raw.POWER_LIMIT_CURRENT
    DEFAULT = raw.POWER_LIMIT_DEFAULT
    MIN = raw.POWER_LIMIT_MIN
    MAX = raw.POWER_LIMIT_MAX


class Clock(IntEnum):
    """Instances of CLOCK_MHZ and CLOCK_LIMIT_MHZ."""

    UNKNOWN = raw.CLOCK_UNKNOWN
    CORE = raw.CLOCK_CORE
    MEMORY = raw.CLOCK_MEMORY
    SM = raw.CLOCK_SM
    VIDEO = raw.CLOCK_VIDEO
    MEDIA = raw.CLOCK_MEDIA
    SOC = raw.CLOCK_SOC
    FABRIC = raw.CLOCK_FABRIC
    REQUESTED = raw.CLOCK_REQUESTED


class Rail(IntEnum):
    """Instances of VOLTAGE."""

    UNKNOWN = raw.RAIL_UNKNOWN
    CORE = raw.RAIL_CORE
    SOC = raw.RAIL_SOC
    MEMORY = raw.RAIL_MEMORY
    BOARD = raw.RAIL_BOARD


class Era(IntEnum):
    """Instances of ECC_CORRECTED and ECC_UNCORRECTED."""

    UNKNOWN = raw.ERA_UNKNOWN
    SINCE_LOAD = raw.ERA_SINCE_LOAD
    LIFETIME = raw.ERA_LIFETIME


class Remapped(IntEnum):
    """Instances of ROWS_REMAPPED."""

    UNKNOWN = raw.REMAPPED_UNKNOWN
    CORRECTED = raw.REMAPPED_CORRECTED
    UNCORRECTED = raw.REMAPPED_UNCORRECTED
    PENDING = raw.REMAPPED_PENDING
    FAILED = raw.REMAPPED_FAILED


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a device. Exactly one of value and count is there."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    pid: int | None  # of this process, not of the device
    id: int  # MetricId
    instance: int  # which one of several: Engine, Sensor and so on, Throttle, or a fan or link from 0
    value: float | None  # a reading
    count: int | None  # ever growing, or whole by nature
    window_ns: int | None  # what value averages over
    age_ns: int  # since the driver was asked
    group: str | None = None  # of a snapshot's metrics: the control group that it is of


_make = maker(Metric)


def make_metric(values: tuple[Any, ...], group: str | None = None) -> Metric:
    return _make((*values, group))
