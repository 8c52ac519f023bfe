# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library itself: its version, features and names."""
from __future__ import annotations

from ._constants import MetricId, NumberKind
from ._native import raw


def version() -> str:
    """The native library's version, for instance "0.1.0"."""
    return raw.version_string()


def version_number() -> int:
    """The same as a number: major * 1000000 + minor * 1000 + patch."""
    return raw.version_number()


def monotonic() -> float:
    """The time of the clock behind every ``monotonic``, in seconds."""
    return raw.monotonic_ns() / 1e9


def library_path() -> str | None:
    """The file that the native library was loaded from, where the system reports it."""
    return raw.library_path()


def feature(number: int) -> bool:
    """Whether the library has a feature: a Feature."""
    return raw.feature(number) == 1


def backend_available(number: int) -> bool:
    """Whether a backend is compiled in: a Backend."""
    return raw.backend_available(number) == 1


def backend_name(backend: int) -> str:
    """A backend's name, for instance "nvml"; "none" for 0, "unknown" for an unknown number."""
    return raw.backend_name(backend)


def reason_name(reason: int) -> str:
    """A reason's name, for instance "not_permitted"; "unknown" for 0 and for an unknown number."""
    return raw.reason_name(reason)


def metric_name(metric: int) -> str:
    """A metric's name, for instance "temperature"; "unknown" for an unknown number."""
    return raw.metric_name(metric)


def metric_unit(metric: int) -> str:
    """The unit of a metric, for instance "W"; empty for a plain number."""
    return raw.metric_unit(metric)


def metric_instance_name(metric: int, instance: int) -> str:
    """An instance's name, for instance "hotspot"; empty for the whole device, fans and links."""
    return raw.metric_instance_name(metric, instance)


def metric_kind(metric: int) -> NumberKind:
    """How to use a metric's number: whether to show it as it is, or to take differences."""
    return NumberKind(raw.metric_kind(metric))


def metrics() -> list[MetricId]:
    """The metrics that the library knows."""
    result = []
    metric = raw.metric_next(0)
    while metric:
        result.append(MetricId(metric))
        metric = raw.metric_next(metric)
    return result


def format_bytes(count: int) -> str:
    """A human-readable size: whole MiB below 1 GiB ("512 MiB", rounded down), else "8.2 GiB".

    ArgumentError: below 0, or 2**64 and more.
    """
    return raw.format_bytes(count)
