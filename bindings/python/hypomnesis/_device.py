# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who a device is, and in a snapshot what it holds."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

from ._metric import Metric
from ._native import raw
from ._pool import Pool
from ._record import maker
from ._telemetry import Telemetry
from ._usage import Usage


class Vendor(IntEnum):
    """PCI vendor ids."""

    UNKNOWN = raw.VENDOR_UNKNOWN
    AMD = raw.VENDOR_AMD
    APPLE = raw.VENDOR_APPLE
    NVIDIA = raw.VENDOR_NVIDIA
    QUALCOMM = raw.VENDOR_QUALCOMM
    INTEL = raw.VENDOR_INTEL


class DeviceKind(IntEnum):
    """What a device is built as."""

    UNKNOWN = raw.KIND_UNKNOWN
    DISCRETE = raw.KIND_DISCRETE
    INTEGRATED = raw.KIND_INTEGRATED
    PARTITION = raw.KIND_PARTITION  # a MIG instance: a device of its own, with parent_index
    VIRTUAL = raw.KIND_VIRTUAL


class MemoryKind(IntEnum):
    """Whose memory a device allocates from."""

    UNKNOWN = raw.MEMORY_KIND_UNKNOWN
    DEDICATED = raw.MEMORY_KIND_DEDICATED  # memory of its own
    UNIFIED = raw.MEMORY_KIND_UNIFIED  # it allocates from the host's RAM (GB10, Jetson, Apple)
    COHERENT = raw.MEMORY_KIND_COHERENT  # memory of its own that is a NUMA node of the host (GH200)


class DeviceField(IntFlag):
    """Fields of a Device, as a Diagnostic names them."""

    NAME = raw.DEVICE_HAS_NAME
    UUID = raw.DEVICE_HAS_UUID
    PCI = raw.DEVICE_HAS_PCI
    DRIVER = raw.DEVICE_HAS_DRIVER
    PARENT = raw.DEVICE_HAS_PARENT
    PCI_DEVICE = raw.DEVICE_HAS_PCI_DEVICE
    PCI_SUBSYSTEM = raw.DEVICE_HAS_PCI_SUBSYSTEM
    RENDER_MINOR = raw.DEVICE_HAS_RENDER_MINOR
    NUMA_NODE = raw.DEVICE_HAS_NUMA_NODE
    INSTANCE = raw.DEVICE_HAS_INSTANCE  # gpu_instance and compute_instance
    DRIVER_INDEX = raw.DEVICE_HAS_DRIVER_INDEX
    OS_ID = raw.DEVICE_HAS_OS_ID
    CUDA_VERSION = raw.DEVICE_HAS_CUDA_VERSION


@dataclass(frozen=True, slots=True)
class Device:
    """Who a device is. None: not known.

    The last five fields are filled in the devices of a snapshot, as far as it collected them.
    """

    notes: int  # Note
    backend: int  # Backend
    index: int  # the context's number: never reused, never renumbered
    kind: int  # DeviceKind
    state: int  # State
    vendor: int  # Vendor, a PCI vendor id
    memory_kind: int  # MemoryKind
    parent_index: int | None  # a partition's GPU
    driver_index: int | None  # what the vendor's own tools call it
    pci_device: int | None  # PCI device id
    pci_subsystem: int | None  # subsystem device id << 16 | subsystem vendor id
    render_minor: int | None  # N of /dev/dri/renderDN
    numa_node: int | None  # the host's NUMA node that is the device's own memory
    gpu_instance: int | None  # MIG
    compute_instance: int | None  # MIG
    cuda_version: int | None  # of the driver: 1000 * major + 10 * minor
    os_id: int | None  # Windows: adapter LUID; macOS: registry id
    name: str | None
    uuid: str | None  # as the vendor writes it: "GPU-…", "MIG-…"
    pci_bus_id: str | None  # "0000:01:00.0": domain (4 or 8 hex digits), bus, device, function
    driver_version: str | None  # as the vendor writes it
    pools: tuple[Pool, ...] = ()  # the main pool first
    telemetry: Telemetry | None = None
    own_usage: Usage | None = None  # what this process uses on it
    usages: tuple[Usage, ...] = ()  # what every process uses on it, by pid
    metrics: tuple[Metric, ...] = ()  # each single number that the sources tell

    @property
    def main_pool(self) -> Pool | None:
        """The pool that allocations come from; None when no pool of the device is known."""
        return next((pool for pool in self.pools if pool.is_main), None)


_make = maker(Device)


def make_device(values: tuple[Any, ...], pools: tuple[Pool, ...] = (),
                telemetry: Telemetry | None = None, own_usage: Usage | None = None,
                usages: tuple[Usage, ...] = (), metrics: tuple[Metric, ...] = ()) -> Device:
    return _make((*values, pools, telemetry, own_usage, usages, metrics))
