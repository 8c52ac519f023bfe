# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a process on the host, of a process on a GPU, of the GPU as a whole; and a GPU's load,
temperature and power.

    import hypomnesis

    print(hypomnesis.memory().resident_bytes)
    for device in hypomnesis.devices():
        print(device.index, device.name, device.main_pool)

Bytes are exact. What is not known is None, and a snapshot has a Diagnostic that says why. Numbers of
enumerations are plain ints, compared with the enumerations' members; a number that an enumeration does
not have came from a newer library and means "unknown".
"""
from ._backend_info import BackendInfo
from ._context import Context, ContextFlag, Place
from ._default import default_context, devices, memory, snapshot, system_memory
from ._delta import Delta
from ._device import Device, DeviceField, DeviceKind, MemoryKind, Vendor
from ._diagnostic import Diagnostic
from ._error import (ArgumentError, AsleepError, BackendError, ClosedError, DeadlineError,
                     DeviceLostError, EmptyError, Error, ForkedError, InternalError, LimitError,
                     NoDeviceError, NoProcessError, NoSourceError, OutOfMemoryError, RangeError,
                     RefusedError, StateError, TooLargeError, UnsupportedError)
from ._estimate import (CacheKind, Dtype, dtype_bits, dtype_from_name, dtype_name,
                        estimate_attention, estimate_cache, estimate_overhead, estimate_packed,
                        estimate_sum, estimate_tensor)
from ._library import (Feature, backend_name, feature, format_bytes, library_path,
                       metric_instance_name, metric_name, metric_unit, version, version_number)
from ._metric import (Clock, Engine, Era, Metric, MetricId, Power, PowerLimit, Rail, Remapped,
                      Sensor)
from ._origin import Accounting, Backend, NativeDomain, Note, Scope, State
from ._pool import Pool, PoolField, PoolKind
from ._process_memory import ProcessMemory, ProcessMemoryField
from ._sampler import Peak, Sampler, SamplerFlag, SamplerInfo, SamplerState
from ._snapshot import Collect, Format, Snapshot, SnapshotFlag
from ._snapshot_info import SnapshotInfo
from ._spill import Episode, Spill, SpillInfo, SpillRule, SpillState
from ._status import Status, status_name
from ._system_memory import Pressure, SystemMemory, SystemMemoryField
from ._telemetry import Telemetry, TelemetryField, Throttle
from ._tracker import Tag, Tracker, TrackerInfo
from ._usage import NameState, Usage, UsageField, UsageKind

__all__ = [
    "Accounting", "ArgumentError", "AsleepError", "Backend", "BackendError", "BackendInfo",
    "CacheKind", "Clock", "ClosedError", "Collect", "Context", "ContextFlag", "DeadlineError",
    "Delta", "Device", "DeviceField", "DeviceKind", "DeviceLostError", "Diagnostic", "Dtype",
    "EmptyError", "Engine", "Episode", "Era", "Error", "Feature", "ForkedError", "Format",
    "InternalError", "LimitError", "MemoryKind", "Metric", "MetricId", "NameState", "NativeDomain",
    "NoDeviceError", "NoProcessError", "NoSourceError", "Note", "OutOfMemoryError", "Peak", "Place",
    "Pool", "PoolField", "PoolKind", "Power", "PowerLimit", "Pressure", "ProcessMemory",
    "ProcessMemoryField", "Rail", "RangeError", "RefusedError", "Remapped", "Sampler", "SamplerFlag", "SamplerInfo",
    "SamplerState", "Scope", "Sensor", "Snapshot", "SnapshotFlag", "SnapshotInfo", "Spill",
    "SpillInfo", "SpillRule", "SpillState", "State", "StateError", "Status", "SystemMemory",
    "SystemMemoryField", "Tag", "Telemetry", "TelemetryField", "Throttle", "TooLargeError",
    "Tracker", "TrackerInfo", "UnsupportedError", "Usage", "UsageField", "UsageKind", "Vendor",
    "backend_name", "default_context", "devices", "dtype_bits", "dtype_from_name", "dtype_name",
    "estimate_attention", "estimate_cache", "estimate_overhead", "estimate_packed", "estimate_sum",
    "estimate_tensor", "feature", "format_bytes", "library_path", "memory", "metric_instance_name",
    "metric_name", "metric_unit", "snapshot", "status_name", "system_memory", "version",
    "version_number",
]
