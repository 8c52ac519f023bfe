# SPDX-License-Identifier: MIT OR Apache-2.0
"""Load, temperature and power of a device."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from ._native import raw
from ._record import maker


class TelemetryField(IntFlag):
    """Fields of a Telemetry that can be asked for."""

    GPU_BUSY = raw.TELEMETRY_HAS_GPU_BUSY
    MEMORY_BUSY = raw.TELEMETRY_HAS_MEMORY_BUSY
    ENCODER_BUSY = raw.TELEMETRY_HAS_ENCODER_BUSY
    DECODER_BUSY = raw.TELEMETRY_HAS_DECODER_BUSY
    TEMPERATURE = raw.TELEMETRY_HAS_TEMPERATURE
    HOTSPOT = raw.TELEMETRY_HAS_HOTSPOT
    MEMORY_TEMPERATURE = raw.TELEMETRY_HAS_MEMORY_TEMPERATURE
    POWER = raw.TELEMETRY_HAS_POWER
    POWER_LIMIT = raw.TELEMETRY_HAS_POWER_LIMIT
    ENERGY = raw.TELEMETRY_HAS_ENERGY
    CORE_CLOCK = raw.TELEMETRY_HAS_CORE_CLOCK
    MEMORY_CLOCK = raw.TELEMETRY_HAS_MEMORY_CLOCK
    FAN_PERCENT = raw.TELEMETRY_HAS_FAN_PERCENT
    FAN_RPM = raw.TELEMETRY_HAS_FAN_RPM
    PCIE_GENERATION = raw.TELEMETRY_HAS_PCIE_GENERATION
    PCIE_WIDTH = raw.TELEMETRY_HAS_PCIE_WIDTH
    PCIE_RX = raw.TELEMETRY_HAS_PCIE_RX
    PCIE_TX = raw.TELEMETRY_HAS_PCIE_TX
    THROTTLE = raw.TELEMETRY_HAS_THROTTLE
    P_STATE = raw.TELEMETRY_HAS_P_STATE
    WINDOW = raw.TELEMETRY_HAS_WINDOW


class Throttle(IntFlag):
    """Why clocks are held down."""

    IDLE = raw.THROTTLE_IDLE
    POWER = raw.THROTTLE_POWER
    THERMAL = raw.THROTTLE_THERMAL
    HARDWARE = raw.THROTTLE_HARDWARE
    SETTING = raw.THROTTLE_SETTING
    OTHER = raw.THROTTLE_OTHER


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Load, temperature and power of a device. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    core_clock_mhz: int | None
    memory_clock_mhz: int | None
    fan_percent: int | None  # of the fan's highest speed; may pass 100
    fan_rpm: int | None
    pcie_generation: int | None  # of the link as it runs now
    pcie_width: int | None  # lanes in use now
    p_state: int | None  # NVIDIA: 0 is the fastest
    throttle: int | None  # Throttle
    backends: int  # bit n: backend n gave at least one field
    gpu_busy_percent: float | None  # 0..100: share of time in which something ran
    memory_busy_percent: float | None  # 0..100: share of time in which memory was read or written
    encoder_busy_percent: float | None  # 0..100
    decoder_busy_percent: float | None  # 0..100
    temperature_celsius: float | None
    hotspot_celsius: float | None
    memory_celsius: float | None
    power_watts: float | None
    power_limit_watts: float | None
    energy_joules: float | None  # ever growing since the driver was loaded: take differences
    pcie_rx_bytes: int | None  # ever growing: take differences
    pcie_tx_bytes: int | None  # ever growing: take differences
    window_ns: int | None  # what the percentages average over
    age_ns: int  # since the driver was asked


make_telemetry = maker(Telemetry)
