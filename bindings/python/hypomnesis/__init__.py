# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a process on the host, of a process on a GPU, of the GPU as a whole; and a GPU's load,
temperature and power.

    import hypomnesis

    print(hypomnesis.memory().resident_bytes)
    for device in hypomnesis.devices():
        print(device.index, device.name, device.main_pool)

Bytes are exact, times are seconds. What is not known is None, and a snapshot has a Diagnostic with the reason. A
number of an enumeration without a member came from a newer library: its name is UNKNOWN_<number>.
"""
from . import _constants
from ._constants import *
from ._context import Context
from ._default import default_context, devices, memory, processes, snapshot, system_memory
from ._device import DeviceScan
from ._error import (ArgumentError, AsleepError, BackendError, CancelledError, ClosedError,
                     DeadlineError, DeviceLostError, EmptyError, Error, ForkedError, InternalError, LimitError,
                     NoDeviceError, NoProcessError, NoSourceError, OutOfMemoryError, RangeError,
                     RefusedError, StateError, TooLargeError, UnsupportedError)
from ._duration import IMMEDIATE, UNLIMITED
from ._estimate import (dtype_bits, dtype_from_name, dtype_name, estimate_attention, estimate_cache,
                        estimate_overhead, estimate_packed, estimate_sum, estimate_tensor)
from ._library import (backend_available, backend_name, feature, format_bytes, library_path,
                       metric_instance_name, metric_kind, metric_name, metric_unit, metrics, monotonic,
                       reason_name, version, version_number)
from ._peak import DevicePeak, PeakReport, peak
from ._records import (BackendInfo, Delta, Device, Diagnostic, Episode, Group, Metric, Peak, Pool, ProcessMemory,
                       SamplerInfo, SnapshotInfo, SpillInfo, SystemMemory, Tag, Telemetry,
                       TrackerInfo, Usage)
from ._sampler import Sampler
from ._snapshot import Snapshot
from ._spill import Spill
from ._status import status_name
from ._tracker import Tracker
from ._wait import read

__version__ = "0.1.0"

__all__ = [
    "ArgumentError", "AsleepError", "BackendError", "BackendInfo", "CancelledError",
    "ClosedError", "Context",
    "DeadlineError", "Delta", "Device", "DeviceLostError", "DevicePeak", "DeviceScan", "Diagnostic", "EmptyError",
    "Episode", "Error", "ForkedError", "Group", "IMMEDIATE", "InternalError", "LimitError", "Metric",
    "NoDeviceError", "NoProcessError", "NoSourceError", "OutOfMemoryError", "Peak", "PeakReport", "Pool", "ProcessMemory",
    "RangeError", "RefusedError", "Sampler", "SamplerInfo", "Snapshot", "SnapshotInfo", "Spill",
    "SpillInfo", "StateError", "SystemMemory", "Tag", "Telemetry", "TooLargeError", "Tracker",
    "TrackerInfo", "UNLIMITED", "UnsupportedError", "Usage", "backend_available", "backend_name", "default_context",
    "devices", "dtype_bits", "dtype_from_name", "dtype_name", "estimate_attention", "estimate_cache",
    "estimate_overhead", "estimate_packed", "estimate_sum", "estimate_tensor", "feature",
    "format_bytes", "library_path", "memory", "metric_instance_name", "metric_kind", "metric_name", "metric_unit",
    "metrics", "monotonic", "peak", "processes", "read", "reason_name", "snapshot", "status_name", "system_memory", "version",
    "version_number",
]
__all__ += _constants.__all__
