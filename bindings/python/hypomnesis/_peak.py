# SPDX-License-Identifier: MIT OR Apache-2.0
"""The most memory that was used while a block ran."""
from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType

from ._constants import Collect, SamplerFlag
from ._context import Context
from ._default import default_context
from ._duration import Duration
from ._error import NoDeviceError, NoProcessError
from ._records import Device, Peak
from ._sampler import Sampler
from ._table import Row, format_size, make_html, make_text


@dataclass(frozen=True, slots=True)
class DevicePeak:
    """Memory of a device while a block ran, in bytes. None: not known."""

    index: int
    name: str | None
    before_bytes: int | None  # used on the whole device
    peak_bytes: int | None
    after_bytes: int | None
    own_peak_bytes: int | None  # highest use by this process


class PeakReport:
    """The most memory that was used while a block ran. hypomnesis.peak makes one; print it, or show it in a notebook.

    devices: a DevicePeak for each device; empty until the end of the block.
    """

    def __init__(self, context: Context, interval: Duration) -> None:
        self._context, self._interval = context, interval
        self.devices: tuple[DevicePeak, ...] = ()

    def _read_devices(self) -> tuple[Device, ...]:
        with self._context.snapshot(Collect.POOLS | Collect.SELF) as snapshot:
            return snapshot.devices

    def __enter__(self) -> PeakReport:
        self._before = {device.index: device for device in self._read_devices()}
        self._sampler = self._context.sampler(Collect.POOLS | Collect.SELF, interval=self._interval,
                                              flags=SamplerFlag.PEAKS_ONLY)
        self._sampler.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            self.devices = tuple(_compare(self._before.get(device.index), device, self._sampler)
                                 for device in self._read_devices())
        finally:
            self._sampler.close()

    def _rows(self) -> list[Row]:
        return [("", "before", "peak", "after", "this process' peak"),
                *((f"GPU {device.index} {device.name or 'unknown'}", format_size(device.before_bytes),
                   format_size(device.peak_bytes), format_size(device.after_bytes), format_size(device.own_peak_bytes))
                  for device in self.devices)]

    def __str__(self) -> str:
        return make_text(self._rows())

    def _repr_html_(self) -> str:
        return make_html(self._rows())


def peak(context: Context | None = None, *, interval: Duration = 0.1) -> PeakReport:
    """Measures the most memory that is used while a block runs, with a sampler:

        with hypomnesis.peak() as peak:
            work()
        print(peak)

    interval: from one sample to the next; a peak between two samples is missed.
    """
    return PeakReport(context or default_context(), interval)


def _compare(before: Device | None, after: Device, sampler: Sampler) -> DevicePeak:
    sampled, own_sampled = _find_peaks(sampler, after.index)
    used = [device.main_pool.used_bytes if device and device.main_pool else None for device in (before, after)]
    own = [device.own_usage.used_bytes if device and device.own_usage else None for device in (before, after)]
    return DevicePeak(after.index, after.name, used[0], _find_highest(*used, sampled.used_bytes if sampled else None), used[1],
                      _find_highest(*own, own_sampled.used_bytes if own_sampled else None))


def _find_peaks(sampler: Sampler, index: int) -> tuple[Peak | None, Peak | None]:
    """What the sampler has seen of the whole device, and of this process on it."""
    try:
        return sampler.device_peak(index), sampler.peak(index, os.getpid())
    except NoDeviceError:
        return None, None
    except NoProcessError:
        return sampler.device_peak(index), None


def _find_highest(*counts: int | None) -> int | None:
    return max((count for count in counts if count is not None), default=None)
