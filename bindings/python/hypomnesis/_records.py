# SPDX-License-Identifier: MIT OR Apache-2.0
# Written by bindings/generate from include/hypomnesis.h.
"""Records: what the library fills, copied. Times are seconds."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._constants import (Accounting, Backend, Collect, DeviceClass, DeviceForm, MemoryKind, MetricId,
                        NameState, NativeDomain, Note, PoolKind, Pressure, Reason, SamplerState, Scope,
                        SpillRule, SpillState, State, Status, Throttle, UsageKind, Vendor)
from ._native import raw
from ._number import PciNumber
from ._record import maker


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """Status of a backend, for diagnosis and bug reports. None: not known."""

    notes: Note
    backend: Backend
    state: State
    status: Status  # Status.OK, or why it is not usable
    native_domain: NativeDomain
    native_code: int  # as the system, driver or tool returned it
    version: str | None  # version of the driver or tool
    message: str  # why it is not usable, and the remedy; "" when it is


make_backend_info = maker(BackendInfo)


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Host RAM of one process, in bytes. None: not known."""

    notes: Note
    backend: Backend
    pid: int  # in the proc tree in use
    resident_bytes: int | None  # RSS: anonymous, file and shared pages (/proc/pid/statm)
    peak_resident_bytes: int | None  # highest RSS so far (VmHWM)
    virtual_bytes: int | None  # address space (/proc/pid/statm)
    swap_bytes: int | None  # anonymous pages swapped out (VmSwap)
    proportional_bytes: int | None  # PSS (proportional set size; smaps_rollup)
    private_bytes: int | None  # USS: pages that no other process maps (smaps_rollup)
    committed_bytes: int | None  # Windows: PrivateUsage; absent elsewhere
    footprint_bytes: int | None  # macOS: phys_footprint; absent elsewhere
    peak_footprint_bytes: int | None  # macOS: highest phys_footprint so far; absent elsewhere
    peak_committed_bytes: int | None  # Windows: PeakPagefileUsage; absent elsewhere
    process_key: int | None  # as in Usage


make_process_memory = maker(ProcessMemory)


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """Memory of the host and of this process' container, in bytes. None: not known."""

    notes: Note  # Note.ESTIMATED: the kernel lacks MemAvailable
    backend: Backend
    pressure: Pressure | None  # macOS, Windows; absent on Linux, which has no level
    total_bytes: int | None  # RAM managed by the kernel (MemTotal)
    available_bytes: int | None  # allocatable without swapping (MemAvailable)
    swap_total_bytes: int | None
    swap_free_bytes: int | None
    # the lowest memory limit of this process' control groups, or on Windows of its job objects; absent if
    # none applies
    limit_bytes: int | None
    limit_used_bytes: int | None  # memory charged to the group or job with that limit, file cache included
    commit_limit_bytes: int | None
    committed_bytes: int | None
    # share of the last 10 s in which at least one task waited for memory (Linux: `some avg10` of
    # /proc/pressure/memory); absent elsewhere
    stall_percent: float | None
    # memory that can be allocated now: available_bytes, but no more than any limit leaves; that includes
    # cache that can be reclaimed
    usable_bytes: int | None


make_system_memory = maker(SystemMemory)


@dataclass(frozen=True, slots=True)
class Device:
    """Identity of a device. None: not known."""

    notes: Note
    backend: Backend
    index: int  # index in the context: never reused, never renumbered
    device_class: DeviceClass
    form: DeviceForm
    state: State
    vendor: Vendor  # a PCI vendor id
    memory_kind: MemoryKind
    parent_index: int | None  # the device that this partition belongs to: a MIG instance, an XCP
    driver_index: int | None  # index in the vendor's own tools
    pci_device: PciNumber | None  # PCI device id
    pci_subsystem: PciNumber | None  # subsystem device id << 16 | subsystem vendor id
    render_minor: int | None  # N of /dev/dri/renderDN
    numa_node: int | None  # the host's NUMA node that is the device's own memory
    gpu_instance: int | None  # number of the MIG GPU instance
    compute_instance: int | None  # number of the MIG compute instance
    cuda_version_major: int | None  # newest CUDA that the driver supports: 12.4 is 12 and 4
    cuda_version_minor: int | None  # of the same version
    compute_capability_major: int | None  # NVIDIA: 9.0 is 9 and 0
    compute_capability_minor: int | None  # of the same capability
    os_id: int | None  # Windows: adapter LUID; macOS: registry id
    age: float  # time since its driver listed it; with several drivers, since the earliest list
    name: str | None  # as the vendor writes it: "NVIDIA GeForce RTX 4090"
    uuid: str | None  # as the vendor writes it: "GPU-…", "MIG-…"
    pci_bus_id: str | None  # "0000:01:00.0": domain (4 or 8 hex digits), bus, device, function
    driver_version: str | None  # as the vendor writes it
    architecture: str | None  # as the vendor names it: "Hopper", "gfx942"
    # in a snapshot, as far as it collected them
    pools: tuple[Pool, ...] = ()  # the main pool first
    telemetry: Telemetry | None = None
    own_usage: Usage | None = None  # what this process uses on it
    usages: tuple[Usage, ...] = ()  # what every process uses on it, by pid
    metrics: tuple[Metric, ...] = ()  # each single number that the sources report

    @property
    def main_pool(self) -> Pool | None:
        """The pool that allocations come from; None when no pool of the device is known."""
        return next((pool for pool in self.pools if pool.is_main), None)


@dataclass(frozen=True, slots=True)
class Pool:
    """One memory pool of a device, or a part of one, in bytes. None: not known."""

    notes: Note
    backend: Backend
    device_index: int
    kind: PoolKind  # never PoolKind.MAIN
    accounting: Accounting  # what used_bytes counts
    is_main: bool  # allocations come from this pool; 0 for each part
    instance: int  # 0: the whole pool; its parts, such as the memory of each tile, count from 1
    total_bytes: int | None
    free_bytes: int | None
    used_bytes: int | None  # without reserved_bytes if that is known; otherwise including it
    # held by driver and firmware, included in total_bytes: total = reserved + free + used
    reserved_bytes: int | None
    # best estimate of the memory that can be allocated now: the free memory, but no more than is left of the
    # budget and, if the pool is part of the host's memory, of the host's usable memory; the total while the
    # device sleeps. For a pool with parts, their sum, which one allocation may not get. Absent if stale, and
    # on a device that is divided into partitions
    usable_bytes: int | None
    budget_bytes: int | None  # what a policy grants this process
    # used, and owned by no visible process; only in snapshots that collect processes
    unattributed_bytes: int | None
    age: float  # time since the driver's answer


make_pool = maker(Pool)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Load, temperature and power of a device. None: not known."""

    notes: Note
    backend: Backend
    device_index: int
    core_clock_mhz: int | None
    memory_clock_mhz: int | None
    fan_percent: int | None  # share of the fan's highest speed; may exceed 100
    fan_rpm: int | None
    pcie_generation: int | None  # current generation of the link
    pcie_width: int | None  # lanes in use now
    p_state: int | None  # NVIDIA: 0 is the fastest
    throttle: Throttle | None
    backends: int  # bit n: backend n provided at least one field
    gpu_busy_percent: float | None  # 0..100: share of time in which something ran
    # 0..100: share of time in which memory was read or written; not how full it is
    memory_busy_percent: float | None
    encoder_busy_percent: float | None  # 0..100
    decoder_busy_percent: float | None  # 0..100
    temperature_celsius: float | None
    hotspot_celsius: float | None
    memory_celsius: float | None
    power_watts: float | None
    power_limit_watts: float | None
    energy_joules: float | None  # counter since the driver was loaded: take differences
    pcie_rx_bytes: int | None  # counter: take differences
    pcie_tx_bytes: int | None  # counter: take differences
    window: float | None  # time over which the percentages are averaged
    age: float  # time since the driver's answer


make_telemetry = maker(Telemetry)


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a device, with its own source and age. Either value or count is present. None: not
    known."""

    notes: Note
    backend: Backend
    device_index: int
    id: MetricId
    instance: int  # one of several: see the metric
    value: float | None  # a reading
    count: int | None  # a counter or a whole number
    window: float | None  # time over which value is averaged
    age: float  # time since the driver's answer


make_metric = maker(Metric)


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory of one process on one device: values of that process only, never of the device. None: not
    known."""

    notes: Note  # Note.FOREIGN_PID: pid is not of the proc tree in use
    backend: Backend
    pid: int  # as the driver lists it: see hmn_usage_read
    device_index: int
    kinds: UsageKind | None  # UsageKind.COMPUTE, UsageKind.GRAPHICS, UsageKind.MEDIA
    accounting: Accounting  # what used_bytes counts
    name_state: NameState
    uid: int | None  # effective user id
    gpu_instance: int | None  # number of the MIG GPU instance
    compute_instance: int | None  # number of the MIG compute instance
    # start time, for display: see process_key. For an exited process: start of the driver's accounting
    start_time: float | None
    # main value, accounted as in `accounting`; for an integrated device all of its memory, including
    # host_pool_bytes
    used_bytes: int | None
    resident_bytes: int | None
    committed_bytes: int | None
    allocated_bytes: int | None
    # memory that other processes hold as well; it and purgeable_bytes may exceed used_bytes if the driver
    # counts them whether they are resident or not
    shared_bytes: int | None
    purgeable_bytes: int | None
    evicted_bytes: int | None  # belongs in device memory, but is not there now
    host_pool_bytes: int | None  # host RAM mapped for the device (GTT, WDDM shared)
    host_resident_bytes: int | None  # RSS: the same in each row of this pid
    budget_bytes: int | None
    busy: float | None  # counter: take differences
    busy_percent: float | None
    window: float | None  # time over which busy_percent is averaged
    age: float  # time since the driver's answer
    # highest use, as the driver accounts it at each allocation (NVIDIA's accounting mode), never sampled
    peak_used_bytes: int | None
    # opaque: identifies the process in every context, even if its pid is reused or the clock is set, for all
    # readers in one PID namespace. Absent for a process of another PID namespace, for an exited process, and
    # if the system does not identify its boot (a copied proc tree)
    process_key: int | None
    process_name: str | None = None  # in a snapshot: command name
    process_command: str | None = None  # in a snapshot: command line
    process_container: str | None = None  # in a snapshot: id of the container


USAGE_TEXTS = (raw.TEXT_PROCESS_NAME, raw.TEXT_PROCESS_COMMAND, raw.TEXT_PROCESS_CONTAINER)
_make_usage = maker(Usage)


def make_usage(values: tuple[Any, ...], texts: tuple[str | None, ...] = (None, None, None)) -> Usage:
    return _make_usage((*values, *texts))


@dataclass(frozen=True, slots=True)
class Group:
    """Memory of one device that one control group holds (a container, a session or a service). No group of a
    snapshot contains another, so used_bytes can be summed. None: not known."""

    notes: Note
    backend: Backend
    device_index: int
    used_bytes: int | None  # VRAM held by the group's processes
    # the lowest limit of the group and of the groups that contain it, which they may share with others;
    # absent: none, or not readable
    limit_bytes: int | None
    age: float  # time since the kernel was queried
    name: str | None = None  # in a snapshot: its container, else its path


GROUP_TEXTS = (raw.TEXT_GROUP_NAME,)
_make_group = maker(Group)


def make_group(values: tuple[Any, ...], texts: tuple[str | None, ...] = (None,)) -> Group:
    return _make_group((*values, *texts))


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """Counts, times and notes of a snapshot."""

    # Note.PARTIAL: a requested value is missing; Note.LOWER_BOUND: a device, or all values of one, may be
    # missing, so counts and sums over devices are minimums
    notes: Note
    collect: Collect  # what was requested
    device_count: int
    pool_count: int
    usage_count: int
    diagnostic_count: int
    # processes that the system did not permit the caller to read, or whose use of a device it did not permit
    # to read
    unreadable_process_count: int
    metric_count: int
    group_count: int
    time: float  # start time, since 1970
    monotonic: float  # start time: hmn_monotonic_ns
    duration: float  # time that the snapshot took
    device_generation: int  # generation of the context's last scan: see hmn_device_scan


make_snapshot_info = maker(SnapshotInfo)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Why a value is missing, and the remedy. The missing value is named as in hmn_reason_key, and an absent
    member means all: without HMN_DIAGNOSTIC_HAS_FIELD and HMN_DIAGNOSTIC_HAS_METRIC, the whole subject is
    missing. None: not known."""

    notes: Note  # Note.TRACE: not a fault, a recorded driver call
    backend: Backend
    reason: Reason
    # Status.UNSUPPORTED: not supported by this device; Status.NO_DEVICE: this backend certainly has no
    # device; Status.OK: a warning, nothing is missing; these three do not set Note.PARTIAL in a snapshot
    status: Status
    native_domain: NativeDomain
    native_code: int  # as the system, driver or tool returned it
    subject: Collect  # the bit concerned
    device_index: int | None
    pid: int | None  # the process concerned
    pool: PoolKind | None
    pool_instance: int | None  # as in Pool
    metric: MetricId | None
    metric_instance: int | None  # as in Metric
    field: int | None  # presence bits that are missing for this reason, in the subject's struct
    duration: float | None  # duration of a traced call
    count: int  # number of equal diagnostics merged into this one
    message: str  # a sentence that names the value and the remedy


make_diagnostic = maker(Diagnostic)


@dataclass(frozen=True, slots=True)
class Delta:
    """Change between two snapshots: after minus before. None: not known."""

    notes: Note
    backend: Backend
    device_index: int
    scope: Scope  # whether device_bytes is for this process or for the device
    accounting: Accounting  # how device_bytes is accounted
    memory_bytes: int | None  # the caller's resident set
    device_bytes: int | None  # for the caller if both snapshots have that, otherwise for the device
    elapsed: float
    energy_joules: float | None  # energy of the whole device


make_delta = maker(Delta)


@dataclass(frozen=True, slots=True)
class SamplerInfo:
    """State and counters of a sampler. None: not known."""

    notes: Note
    state: SamplerState  # SamplerState.IDLE, SamplerState.RUNNING, SamplerState.STOPPED
    pending: int  # snapshots not yet pulled
    last_status: Status | None  # status of the last attempt
    taken_count: int  # snapshots taken
    dropped_count: int  # snapshots of these that were dropped unread because the queue was full
    late_count: int  # scheduled times skipped because a snapshot took too long
    failed_count: int  # attempts without a snapshot
    last_monotonic: float | None  # start of the last attempt: hmn_monotonic_ns


make_sampler_info = maker(SamplerInfo)


@dataclass(frozen=True, slots=True)
class Peak:
    """Highest values in a sampler's snapshots since its start. Each is determined separately, so they may be
    from different times. Peaks between two snapshots are missed. None: not known."""

    notes: Note  # of the reading of used_bytes
    backend: Backend  # of the reading of used_bytes
    device_index: int
    pid: int  # 0: the device
    accounting: Accounting  # what used_bytes counts
    used_bytes: int | None  # for a device: used memory of its main pool
    host_pool_bytes: int | None  # for a device: used memory of its PoolKind.HOST
    host_resident_bytes: int | None  # for a process: RSS
    used_monotonic: float | None  # start of the first snapshot with used_bytes


make_peak = maker(Peak)


@dataclass(frozen=True, slots=True)
class TrackerInfo:
    """Limit and totals of a tracker: allocated_bytes is never above limit_bytes, peak_bytes never below
    allocated_bytes. None: not known."""

    notes: Note
    device_index: int | None
    tag_count: int  # tags are numbered from 1 to tag_count
    limit_bytes: int | None
    allocated_bytes: int
    peak_bytes: int  # highest allocated_bytes since the start or the last reset
    refused_count: int  # allocations refused with Status.LIMIT


make_tracker_info = maker(TrackerInfo)


@dataclass(frozen=True, slots=True)
class Tag:
    """Totals of a tag."""

    notes: Note
    number: int  # of the tag
    allocated_bytes: int
    peak_bytes: int
    name: str  # as passed to hmn_tracker_tag


make_tag = maker(Tag)


@dataclass(frozen=True, slots=True)
class SpillInfo:
    """State and totals of a detector. None: not known."""

    notes: Note  # of the last observation; Note.TRUNCATED: first_label or message was cut
    backend: Backend  # of the last observation; 0: it was fed
    device_index: int
    state: SpillState  # SpillState.MEASURABLE, SpillState.NOW, SpillState.EVER
    rules: SpillRule  # of the last observation
    # Status.OK, or why the last attempt gave no observation; Status.EMPTY: no attempt was made
    status: Status
    observation_count: int
    skipped_count: int  # attempts without an observation, which change nothing else
    episode_count: int  # all episodes; the last one may still be open
    first_episode: int  # lowest number still kept
    limit_bytes: int | None  # last known
    dedicated_bytes: int | None
    shared_bytes: int | None
    evicted_bytes: int | None
    peak_dedicated_bytes: int | None
    peak_shared_bytes: int | None
    peak_evicted_bytes: int | None
    baseline_shared_bytes: int | None  # of the first observation
    baseline_evicted_bytes: int | None  # of the first with that value; 0 if no process existed before
    total: float  # of all episodes, including dropped ones
    longest: float | None
    longest_episode: int | None  # its number; the first of equal ones
    first_label: str | None  # of the first episode
    message: str  # reason for status, and the remedy; "" on Status.OK


make_spill_info = maker(SpillInfo)


@dataclass(frozen=True, slots=True)
class Episode:
    """Consecutive observations that spilled. None: not known."""

    notes: Note  # Note.TRUNCATED: a label was cut
    rules: SpillRule  # those that held
    number: int  # counts a detector's episodes from 0
    observation_count: int
    peak_shared_bytes: int
    peak_evicted_bytes: int | None
    start_monotonic: float  # of its first observation
    end_monotonic: float | None  # of the first observation after it
    duration: float  # from its first observation to its last
    start_label: str  # of its first observation
    end_label: str | None  # of the first observation after it


make_episode = maker(Episode)
