# SPDX-License-Identifier: MIT OR Apache-2.0
# Written by bindings/generate from include/hypomnesis.h.
"""Records: what the library fills, copied."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._native import raw
from ._record import maker


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """How a backend fares; for doctors and bug reports. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    state: int  # State
    status: int  # Status: Status.Status.OK, or why it cannot serve
    native_domain: int  # NativeDomain
    native_code: int
    version: str | None  # of the driver or tool behind it
    message: str  # why it cannot serve, and what can be done; "" when it can


make_backend_info = maker(BackendInfo)


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Host RAM of one process, in bytes. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    pid: int
    resident_bytes: int | None  # RSS: anonymous, file and shared pages (/proc/pid/statm)
    peak_resident_bytes: int | None  # highest RSS so far (VmHWM)
    virtual_bytes: int | None  # address space (/proc/pid/statm)
    swap_bytes: int | None  # anonymous pages swapped out (VmSwap)
    proportional_bytes: int | None  # PSS: shared pages divided by their users (smaps_rollup)
    private_bytes: int | None  # USS: pages that no other process maps (smaps_rollup)
    committed_bytes: int | None  # Windows: PrivateUsage; absent elsewhere
    footprint_bytes: int | None  # macOS: phys_footprint; absent elsewhere
    peak_footprint_bytes: int | None  # macOS: highest phys_footprint so far; absent elsewhere
    peak_committed_bytes: int | None  # Windows: PeakPagefileUsage; absent elsewhere


make_process_memory = maker(ProcessMemory)


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """The host's RAM and this container's share of it, in bytes. None: not known."""

    notes: int  # Note; Note.Note.ESTIMATED: available_bytes derived, on kernels without it
    backend: int  # Backend
    total_bytes: int | None  # RAM that the kernel manages (MemTotal)
    available_bytes: int | None  # what could be used without swapping (MemAvailable)
    swap_total_bytes: int | None
    swap_free_bytes: int | None
    # the tightest memory limit of this process' control groups, on Windows of its job objects; absent when
    # none applies
    limit_bytes: int | None
    limit_used_bytes: int | None  # what is charged to the group or job with that limit
    commit_limit_bytes: int | None
    committed_bytes: int | None
    pressure: int | None  # Pressure: macOS, Windows; absent on Linux, which has no level
    # of the last 10 s: at least one task waited for memory (Linux: `some avg10` of /proc/pressure/memory);
    # absent elsewhere
    stall_percent: float | None


make_system_memory = maker(SystemMemory)


@dataclass(frozen=True, slots=True)
class Device:
    """Who a device is. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    index: int  # the context's number: never reused, never renumbered
    kind: int  # DeviceKind
    state: int  # State
    vendor: int  # Vendor: a PCI vendor id
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
    """One memory pool of a device, device-wide, in bytes. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    kind: int  # PoolKind: never PoolKind.MAIN
    accounting: int  # Accounting: what used_bytes counts
    is_main: bool  # allocations come from this pool
    total_bytes: int | None
    free_bytes: int | None
    used_bytes: int | None  # without reserved_bytes where that is known; else with it
    # held by driver and firmware, inside total_bytes: total = reserved + free + used
    reserved_bytes: int | None
    usable_bytes: int | None  # best estimate of what one could allocate now
    budget_bytes: int | None  # what a policy lets this process use
    # used, and owned by no process that can be seen; only in snapshots that collect processes
    unattributed_bytes: int | None
    age_ns: int  # since the driver was asked


make_pool = maker(Pool)


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
    # 0..100: share of time in which memory was read or written; not how full it is
    memory_busy_percent: float | None
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


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a device, with its own source and age. Exactly one of value and count is there. None: not
    known."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    pid: int | None  # with its bit: this process' part, not the device's
    id: int  # MetricId
    instance: int  # which one of several: see the metric
    value: float | None  # a reading
    count: int | None  # ever growing, or whole by nature
    window_ns: int | None  # what value averages over
    age_ns: int  # since the driver was asked
    group: str | None = None  # in a snapshot: the control group that it is of


METRIC_TEXTS = (raw.TEXT_METRIC_GROUP,)
_make_metric = maker(Metric)


def make_metric(values: tuple[Any, ...], texts: tuple[str | None, ...] = (None,)) -> Metric:
    return _make_metric((*values, *texts))


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory of one process on one device: figures of that process only, never the device's. None: not
    known."""

    notes: int  # Note; Note.Note.FOREIGN_PID: pid is not one of the proc tree in use
    backend: int  # Backend
    pid: int
    device_index: int
    kinds: int | None  # UsageKind: what it runs there
    accounting: int  # Accounting: what used_bytes counts
    name_state: int  # NameState
    uid: int | None  # effective user id
    gpu_instance: int | None  # MIG
    compute_instance: int | None  # MIG
    # with pid: tells a reused pid from the old one. Of a process that has ended: since when the driver keeps
    # its account
    start_unix_ns: int | None
    used_bytes: int | None  # the headline, by `accounting`
    resident_bytes: int | None
    committed_bytes: int | None
    allocated_bytes: int | None
    shared_bytes: int | None  # the part of used_bytes that other processes hold as well
    purgeable_bytes: int | None
    evicted_bytes: int | None  # wanted in device memory, and not there now
    host_pool_bytes: int | None  # host RAM mapped for the device (GTT, WDDM shared)
    host_resident_bytes: int | None  # RSS: the same in each row of this pid
    budget_bytes: int | None
    busy_ns: int | None  # ever growing: take differences
    busy_percent: float | None
    window_ns: int | None  # what busy_percent averages over
    age_ns: int  # since the driver was asked
    # the most that it has held there: the driver's own account of it, kept at each allocation (NVIDIA's
    # accounting mode), never sampled
    peak_used_bytes: int | None
    process_name: str | None = None  # in a snapshot: command name
    process_command: str | None = None  # in a snapshot: command line
    process_container: str | None = None  # in a snapshot: id of the container


USAGE_TEXTS = (raw.TEXT_PROCESS_NAME, raw.TEXT_PROCESS_COMMAND, raw.TEXT_PROCESS_CONTAINER)
_make_usage = maker(Usage)


def make_usage(values: tuple[Any, ...], texts: tuple[str | None, ...] = (None, None, None)) -> Usage:
    return _make_usage((*values, *texts))


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """What a snapshot holds."""

    notes: int  # Note; Note.Note.PARTIAL: something asked for is missing
    collect: int  # Collect: what was asked for
    device_count: int
    pool_count: int
    usage_count: int
    diagnostic_count: int
    # processes that the system would not describe, or not let be asked what they use of a device
    unreadable_process_count: int
    metric_count: int
    unix_time_ns: int  # when it was begun, since 1970
    monotonic_ns: int  # the same by the clock that never jumps
    duration_ns: int  # how long it took


make_snapshot_info = maker(SnapshotInfo)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Why something is missing, and what can be done. None: not known."""

    notes: int  # Note; Note.Note.TRACE: not a fault, a recorded driver call
    backend: int  # Backend
    # Status; Status.Status.UNSUPPORTED: this card has no such value; Status.Status.NO_DEVICE: this backend is
    # sure that it has no device; these two do not make a snapshot Note.PARTIAL
    status: int
    native_domain: int  # NativeDomain
    native_code: int
    subject: int  # the Collect bit that it is about
    # the presence bits of that struct that are missing because of it; for Collect.METRICS the MetricId
    field: int | None
    device_index: int | None
    pid: int | None  # of the first, when several were merged
    count: int  # how many alike were merged into this one
    duration_ns: int | None  # of a traced call
    message: str


make_diagnostic = maker(Diagnostic)


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed from one snapshot to another: after minus before. None: not known."""

    notes: int  # Note
    backend: int  # Backend
    device_index: int
    scope: int  # Scope: device_bytes is this process' or the device's
    accounting: int  # Accounting: of device_bytes
    memory_bytes: int | None  # the caller's resident set
    device_bytes: int | None  # of the caller when both snapshots know that, else of the device
    elapsed_ns: int
    energy_joules: float | None  # of the whole device


make_delta = maker(Delta)


@dataclass(frozen=True, slots=True)
class SamplerInfo:
    """How a sampler fares. None: not known."""

    notes: int  # Note
    state: int  # SamplerState
    pending: int  # snapshots that wait to be pulled
    last_status: int | None  # Status: of the last try
    taken_count: int  # snapshots taken
    dropped_count: int  # of these, dropped unread to make room
    late_count: int  # times that were left out since the snapshot before took too long
    failed_count: int  # tries that gave no snapshot
    last_monotonic_ns: int | None  # when the last try was begun, by the clock that never jumps


make_sampler_info = maker(SamplerInfo)


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest figures that a sampler has seen since its start, each for itself: they need not be of the
    same moment. What rose and fell between two snapshots was not seen. None: not known."""

    notes: int  # Note: of the reading that used_bytes is from
    backend: int  # Backend: so too
    device_index: int
    pid: int  # 0: of the device
    accounting: int  # Accounting: what used_bytes counts
    used_bytes: int | None  # a device: of its main pool
    host_pool_bytes: int | None  # a device: used of its PoolKind.HOST
    host_resident_bytes: int | None  # of a process: RSS
    used_monotonic_ns: int | None  # when used_bytes was seen first


make_peak = maker(Peak)


@dataclass(frozen=True, slots=True)
class TrackerInfo:
    """How a budget fares: allocated_bytes is never above limit_bytes, peak_bytes never below allocated_bytes.
    None: not known."""

    notes: int  # Note
    device_index: int | None
    tag_count: int  # tags are numbered from 1 up to it
    limit_bytes: int | None
    allocated_bytes: int
    peak_bytes: int  # highest allocated_bytes since the start or the last reset
    refused_count: int  # allocations that were Status.LIMIT


make_tracker_info = maker(TrackerInfo)


@dataclass(frozen=True, slots=True)
class Tag:
    """What was allocated under a tag."""

    notes: int  # Note
    number: int  # of the tag
    allocated_bytes: int
    peak_bytes: int
    name: str


make_tag = maker(Tag)


@dataclass(frozen=True, slots=True)
class SpillInfo:
    """What a detector has seen. None: not known."""

    notes: int  # Note; of the last observation; Note.Note.TRUNCATED: first_label or message was cut
    backend: int  # Backend; of the last observation; 0: it was fed
    device_index: int
    state: int  # SpillState
    rules: int  # SpillRule: of the last observation
    # Status; Status.Status.OK, or why the last try gave no observation; Status.Status.EMPTY: none was made
    status: int
    observation_count: int
    skipped_count: int  # tries that gave no observation, and changed nothing else
    episode_count: int  # ever begun; the last one may still be open
    first_episode: int  # lowest number that is still kept
    limit_bytes: int | None  # the last one known
    dedicated_bytes: int | None
    shared_bytes: int | None
    evicted_bytes: int | None
    peak_dedicated_bytes: int | None
    peak_shared_bytes: int | None
    peak_evicted_bytes: int | None
    baseline_shared_bytes: int | None  # of the first observation
    baseline_evicted_bytes: int | None  # of the first that told it; 0 where no process was there before
    total_ns: int  # of all episodes, also those dropped
    longest_ns: int | None
    longest_episode: int | None  # its number; of equal ones the first
    first_label: str | None  # of the first episode
    message: str  # why status is what it is, and what can be done; "" on Status.OK


make_spill_info = maker(SpillInfo)


@dataclass(frozen=True, slots=True)
class Episode:
    """Consecutive observations that spilled. None: not known."""

    notes: int  # Note; Note.Note.TRUNCATED: a label was cut
    rules: int  # SpillRule: those that held in it
    number: int
    observation_count: int
    peak_shared_bytes: int
    peak_evicted_bytes: int | None
    start_monotonic_ns: int
    end_monotonic_ns: int | None  # of the first observation after it
    duration_ns: int  # from its first observation to its last
    start_label: str  # of its first observation
    end_label: str | None  # of the first observation after it


make_episode = maker(Episode)
