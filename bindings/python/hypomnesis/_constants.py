# SPDX-License-Identifier: MIT OR Apache-2.0
# Written by bindings/generate from include/hypomnesis.h.
"""Enumerations."""
from ._native import raw
from ._number import Flags, Number

__all__ = [
    "Accounting",
    "Backend",
    "CacheKind",
    "Clock",
    "Collect",
    "ContextFlag",
    "DeviceClass",
    "DeviceField",
    "DeviceForm",
    "Dtype",
    "Engine",
    "Era",
    "Feature",
    "Format",
    "GroupField",
    "LineFlag",
    "MemoryKind",
    "MetricId",
    "NameState",
    "NativeDomain",
    "Note",
    "NumberKind",
    "Place",
    "PoolField",
    "PoolKind",
    "Power",
    "PowerLimit",
    "Pressure",
    "ProcessMemoryField",
    "Rail",
    "Reason",
    "Remapped",
    "SamplerFlag",
    "SamplerState",
    "Scope",
    "Sensor",
    "SnapshotFlag",
    "SpillRule",
    "SpillState",
    "State",
    "Status",
    "SystemMemoryField",
    "TelemetryField",
    "Throttle",
    "UsageField",
    "UsageKind",
    "Vendor",
]


class Status(Number):
    """Statuses."""

    OK = raw.OK
    ARGUMENT = raw.E_ARGUMENT  # an argument is NULL, empty or malformed
    STRUCT_SIZE = raw.E_STRUCT_SIZE  # struct_size is not supported by this library
    UNKNOWN_FLAG = raw.E_UNKNOWN_FLAG  # an unknown flag bit, or a nonzero byte past the known fields
    RANGE = raw.E_RANGE  # an index past the end, or a number out of range
    NO_MEMORY = raw.E_NO_MEMORY  # the host's memory is exhausted
    UNSUPPORTED = raw.E_UNSUPPORTED  # not supported by this system, device or driver
    NO_SOURCE = raw.E_NO_SOURCE  # no source of this value: no library, no driver, no tool
    NO_DEVICE = raw.E_NO_DEVICE  # no device with that index or key
    NO_PROCESS = raw.E_NO_PROCESS  # no such process, or it has exited
    PERMISSION = raw.E_PERMISSION  # the system or the driver refused
    TIMEOUT = raw.E_TIMEOUT  # the driver did not answer within the deadline
    DEVICE_LOST = raw.E_DEVICE_LOST  # the device is gone: unplugged, fallen off the bus, reset
    BACKEND = raw.E_BACKEND  # a driver or tool returned an error or an invalid answer
    LIMIT = raw.E_LIMIT  # a limit was reached
    OVERFLOW = raw.E_OVERFLOW  # the result does not fit 64 bits
    FORKED = raw.E_FORKED  # the handle was created before fork()
    BUFFER = raw.E_BUFFER  # the buffer is too small; *needed is the size required
    EMPTY = raw.E_EMPTY  # not requested, or no data
    INTERNAL = raw.E_INTERNAL  # a defect of this library; please report it
    ASLEEP = raw.E_ASLEEP  # a reading would wake the device, or keep it awake
    STATE = raw.E_STATE  # the call is not allowed in the handle's current state
    CANCELLED = raw.E_CANCELLED  # the context was cancelled, and the call would have to wait


class Backend(Number):
    """Source of a value. Numbers stay below 64, because masks are 64 bits wide."""

    NONE = raw.BACKEND_NONE
    OS = raw.BACKEND_OS  # the operating system itself
    NVML = raw.BACKEND_NVML  # NVIDIA's management library
    NVIDIA_SMI = raw.BACKEND_NVIDIA_SMI  # NVIDIA's nvidia-smi command, for what NVML does not report
    AMDGPU = raw.BACKEND_AMDGPU  # AMD's kernel driver: sysfs and fdinfo
    KFD = raw.BACKEND_KFD  # AMD's compute driver: memory of compute processes
    ROCM_SMI = raw.BACKEND_ROCM_SMI  # AMD's rocm-smi command, for what the kernel does not report
    I915 = raw.BACKEND_I915  # Intel's older kernel driver
    XE = raw.BACKEND_XE  # Intel's newer kernel driver
    DRM = raw.BACKEND_DRM  # any kernel DRM driver: sysfs, and the fdinfo files of its clients
    DXGI = raw.BACKEND_DXGI  # Windows: the adapters, and the caller's memory budget on them
    PDH = raw.BACKEND_PDH  # Windows: the performance counters of adapters and processes
    METAL = raw.BACKEND_METAL  # macOS: Metal and the I/O Registry
    MACMON = raw.BACKEND_MACMON  # macOS: the macmon command
    TEGRA = raw.BACKEND_TEGRA  # NVIDIA's SoCs (Jetson): sysfs
    DMEM = raw.BACKEND_DMEM  # the kernel's dmem cgroup controller (device memory)
    SIMULATED = raw.BACKEND_SIMULATED  # a machine described by a file: nothing was measured
    AMD_SMI = raw.BACKEND_AMD_SMI  # AMD's amd-smi command, for what the kernel does not report


class Note(Flags):
    """Note flags of a result; each bit has one meaning in every struct."""

    STALE = raw.NOTE_STALE  # the last known value, age old: the driver did not answer
    # at least this much: a part is not visible, or memory that several may share is counted once
    LOWER_BOUND = raw.NOTE_LOWER_BOUND
    ESTIMATED = raw.NOTE_ESTIMATED  # derived from other values, not measured
    TRUNCATED = raw.NOTE_TRUNCATED  # a char[N] field was cut
    MIXED = raw.NOTE_MIXED  # several backends; `backend` is the first
    FOREIGN_PID = raw.NOTE_FOREIGN_PID  # pid belongs to another PID namespace
    PARTIAL = raw.NOTE_PARTIAL  # a requested value is missing: see the diagnostics
    TRACE = raw.NOTE_TRACE  # diagnostics: a driver call, recorded by ContextFlag.TRACE
    DIVIDED = raw.NOTE_DIVIDED  # devices: its memory belongs to its partitions, which are separate devices


class Scope(Number):
    """Scope of a value."""

    NONE = raw.DELTA_SCOPE_NONE
    PROCESS = raw.DELTA_SCOPE_PROCESS
    DEVICE = raw.DELTA_SCOPE_DEVICE


class Accounting(Number):
    """How bytes are accounted."""

    NONE = raw.ACCOUNT_NONE
    RESIDENT = raw.ACCOUNT_RESIDENT  # has backing store now
    COMMITTED = raw.ACCOUNT_COMMITTED  # committed, with or without backing store
    ALLOCATED = raw.ACCOUNT_ALLOCATED  # allocations as the driver accounts them (NVML)


class NativeDomain(Number):
    """Domain of a native_code."""

    NONE = raw.NATIVE_NONE
    ERRNO = raw.NATIVE_ERRNO  # errno
    WIN32 = raw.NATIVE_WIN32  # GetLastError
    HRESULT = raw.NATIVE_HRESULT  # HRESULT
    NTSTATUS = raw.NATIVE_NTSTATUS  # NTSTATUS
    PDH = raw.NATIVE_PDH  # PDH_STATUS
    KERN = raw.NATIVE_KERN  # kern_return_t
    NVML = raw.NATIVE_NVML  # nvmlReturn_t
    EXIT = raw.NATIVE_EXIT  # exit code of a helper program; 128 + n: killed by signal n


class Vendor(Number):
    """PCI vendor ids."""

    UNKNOWN = raw.VENDOR_UNKNOWN
    AMD = raw.VENDOR_AMD
    APPLE = raw.VENDOR_APPLE
    NVIDIA = raw.VENDOR_NVIDIA
    QUALCOMM = raw.VENDOR_QUALCOMM
    INTEL = raw.VENDOR_INTEL


class Reason(Number):
    """Why a value is missing. The statuses of a call give the same reasons, less precisely."""

    UNKNOWN = raw.REASON_UNKNOWN
    UNSUPPORTED = raw.REASON_UNSUPPORTED  # not supported by this device, driver or system
    NOT_PRESENT = raw.REASON_NOT_PRESENT  # no such source, device or process
    NOT_UNDERSTOOD = raw.REASON_NOT_UNDERSTOOD  # present, in a form that this library does not know
    AMBIGUOUS = raw.REASON_AMBIGUOUS  # the known data is ambiguous and determines no value
    NOT_PERMITTED = raw.REASON_NOT_PERMITTED  # the system or the driver refused
    # known after a later reading: it is not read at every interval, or is the difference of two readings
    NOT_YET = raw.REASON_NOT_YET
    ASLEEP = raw.REASON_ASLEEP  # a reading would wake the device, or keep it awake
    LOST = raw.REASON_LOST  # the device is gone
    TIMED_OUT = raw.REASON_TIMED_OUT  # the driver did not answer within the deadline
    FAILED = raw.REASON_FAILED  # a driver, a tool or the system returned an error
    IMPLAUSIBLE = raw.REASON_IMPLAUSIBLE  # the driver returned an impossible value
    LIMIT = raw.REASON_LIMIT  # a limit of this library, or of the host's memory, was reached


class Feature(Number):
    """Features that a library may be built with: hmn_feature."""

    SUBPROCESS = raw.FEATURE_SUBPROCESS  # code that runs helper programs is compiled in
    SIMULATION = raw.FEATURE_SIMULATION  # Place.SIMULATION works


class ContextFlag(Flags):
    """Options of a context."""

    # never run a helper program (nvidia-smi, rocm-smi, amd-smi, macmon)
    NO_SUBPROCESS = raw.CONTEXT_NO_SUBPROCESS
    WAKE_DEVICES = raw.CONTEXT_WAKE_DEVICES  # wake sleeping GPUs to read them
    # start no threads: a driver may then block the caller, and a deadline is only checked between driver
    # calls
    NO_THREADS = raw.CONTEXT_NO_THREADS
    # read the HMN_* variables now, with getenv (never if set-user-id): see "Threads" above
    ENVIRONMENT = raw.CONTEXT_ENVIRONMENT
    TRACE = raw.CONTEXT_TRACE  # add each driver call to the snapshot's diagnostics
    RECORD = raw.CONTEXT_RECORD  # keep what the backends read: hmn_context_recording


class Place(Number):
    """Paths that replace the defaults. With ContextFlag.ENVIRONMENT the variable in brackets has the same
    effect."""

    PROC = raw.PATH_PROC  # the proc tree, default "/proc" [HMN_PROC]
    SYS = raw.PATH_SYS  # the sysfs tree, default "/sys" [HMN_SYS]
    NVML = raw.PATH_NVML  # the NVML library, by absolute path [HMN_NVML]
    NVIDIA_SMI = raw.PATH_NVIDIA_SMI  # the nvidia-smi program, by absolute path [HMN_NVIDIA_SMI]
    ROCM_SMI = raw.PATH_ROCM_SMI  # the rocm-smi program, by absolute path [HMN_ROCM_SMI]
    MACMON = raw.PATH_MACMON  # the macmon program, by absolute path [HMN_MACMON]
    # a machine file, a recording or a folder of copied kernel files: it replaces every other source
    # [HMN_SIMULATION]
    SIMULATION = raw.PATH_SIMULATION
    CGROUP = raw.PATH_CGROUP  # the cgroup mount, default: found in mountinfo [HMN_CGROUP]
    AMD_SMI = raw.PATH_AMD_SMI  # the amd-smi program, by absolute path [HMN_AMD_SMI]
    DEV = raw.PATH_DEV  # the device nodes, default "/dev" with the default sysfs tree, else none [HMN_DEV]


class State(Number):
    """State of a backend or a device."""

    UNKNOWN = raw.RUN_STATE_UNKNOWN  # not tried yet
    READY = raw.RUN_STATE_READY  # readable
    ASLEEP = raw.RUN_STATE_ASLEEP  # runtime suspended; only identity and totals are known
    LOST = raw.RUN_STATE_LOST  # was present and is gone
    UNREADABLE = raw.RUN_STATE_UNREADABLE  # present, and returns errors
    HUNG = raw.RUN_STATE_HUNG  # a driver call has not returned: it hangs, or is still starting the device
    ABSENT = raw.RUN_STATE_ABSENT  # not on this machine
    OFF = raw.RUN_STATE_OFF  # disabled by the context or not compiled in


class Pressure(Number):
    """Memory pressure, as the system itself reports it."""

    UNKNOWN = raw.PRESSURE_UNKNOWN
    NORMAL = raw.PRESSURE_NORMAL
    WARNING = raw.PRESSURE_WARNING  # programs should release memory
    CRITICAL = raw.PRESSURE_CRITICAL  # the system kills processes next; never reported by Windows


class DeviceClass(Number):
    """Class of a device; bit n of hmn_context_options.device_classes is class n."""

    UNKNOWN = raw.DEVICE_CLASS_UNKNOWN
    GPU = raw.DEVICE_CLASS_GPU
    NPU = raw.DEVICE_CLASS_NPU  # an accelerator for computations only, such as neural networks


class DeviceForm(Number):
    """Form of a device; a partition has the form of its parent."""

    UNKNOWN = raw.DEVICE_FORM_UNKNOWN
    DISCRETE = raw.DEVICE_FORM_DISCRETE
    INTEGRATED = raw.DEVICE_FORM_INTEGRATED  # a part of the processor or SoC
    VIRTUAL = raw.DEVICE_FORM_VIRTUAL


class MemoryKind(Number):
    """Kind of a device's memory."""

    UNKNOWN = raw.MEMORY_KIND_UNKNOWN
    DEDICATED = raw.MEMORY_KIND_DEDICATED  # its own memory
    UNIFIED = raw.MEMORY_KIND_UNIFIED  # allocated from the host's RAM (GB10, Jetson, Apple)
    COHERENT = raw.MEMORY_KIND_COHERENT  # its own memory, which is also a NUMA node of the host (GH200)


class PoolKind(Number):
    """Kind of a memory pool. A device has at most one pool of each kind, and a pool may have parts. An APU
    has PoolKind.VRAM and PoolKind.HOST; a unified GPU has only UNIFIED."""

    MAIN = raw.POOL_MAIN  # in requests: the pool that allocations come from
    VRAM = raw.POOL_VRAM  # the device's own memory
    VRAM_VISIBLE = raw.POOL_VRAM_VISIBLE  # the part of the device's own memory that the host can address
    HOST = raw.POOL_HOST  # host RAM mapped for the device (GTT, WDDM shared)
    UNIFIED = raw.POOL_UNIFIED  # host RAM that the device allocates from as its own
    STOLEN = raw.POOL_STOLEN  # host RAM reserved by firmware


class Throttle(Flags):
    """Why clocks are reduced."""

    IDLE = raw.THROTTLE_IDLE
    POWER = raw.THROTTLE_POWER
    THERMAL = raw.THROTTLE_THERMAL
    HARDWARE = raw.THROTTLE_HARDWARE
    SETTING = raw.THROTTLE_SETTING
    OTHER = raw.THROTTLE_OTHER


class MetricId(Number):
    """Metric: one number of a device. A metric is a value for which Telemetry has no field, or one instance
    of a value that it has (each sensor, each fan, each clock). Numbers are appended; unit, kind and instances
    are part of a metric's meaning: hmn_metric_unit, hmn_metric_kind. A "count" is a whole number, in `count`;
    all other metrics are in `value`."""

    UNKNOWN = raw.METRIC_UNKNOWN
    ENGINE_BUSY_NS = raw.METRIC_ENGINE_BUSY_NS  # count, ns, counter; instance: Engine
    ENGINE_PERCENT = raw.METRIC_ENGINE_PERCENT  # 0..100 of window; instance: Engine
    ENGINE_CAPACITY = raw.METRIC_ENGINE_CAPACITY  # count: number of engines; instance: Engine
    TEMPERATURE = raw.METRIC_TEMPERATURE  # Celsius; instance: Sensor
    TEMPERATURE_LIMIT = raw.METRIC_TEMPERATURE_LIMIT  # Celsius: where the device slows down; Sensor
    FAN_RPM = raw.METRIC_FAN_RPM  # RPM; instance: fan, from 1
    FAN_PERCENT = raw.METRIC_FAN_PERCENT  # of the highest speed, may exceed 100; fan, from 1
    POWER_WATTS = raw.METRIC_POWER_WATTS  # W; instance: Power
    ENERGY_JOULES = raw.METRIC_ENERGY_JOULES  # J, counter: take differences; Power
    CLOCK_MHZ = raw.METRIC_CLOCK_MHZ  # MHz; instance: Clock
    CLOCK_LIMIT_MHZ = raw.METRIC_CLOCK_LIMIT_MHZ  # MHz: maximum; instance: Clock
    VOLTAGE = raw.METRIC_VOLTAGE  # V; instance: Rail
    TEMPERATURE_SHUTDOWN = raw.METRIC_TEMPERATURE_SHUTDOWN  # Celsius: where the device shuts down; Sensor
    POWER_LIMIT_WATTS = raw.METRIC_POWER_LIMIT_WATTS  # W; instance: PowerLimit
    ECC_CORRECTED = raw.METRIC_ECC_CORRECTED  # count of memory errors; instance: Era
    ECC_UNCORRECTED = raw.METRIC_ECC_UNCORRECTED  # count of memory errors; instance: Era
    ROWS_REMAPPED = raw.METRIC_ROWS_REMAPPED  # count; instance: Remapped
    LAST_FAULT = raw.METRIC_LAST_FAULT  # count: the driver's fault number (NVIDIA: Xid)
    THROTTLE_NS = raw.METRIC_THROTTLE_NS  # count, ns throttled, counter; Throttle
    PCIE_RX_BYTES = raw.METRIC_PCIE_RX_BYTES  # count, counter: received by the device
    PCIE_TX_BYTES = raw.METRIC_PCIE_TX_BYTES  # count, counter: sent by the device
    PCIE_REPLAYS = raw.METRIC_PCIE_REPLAYS  # count, counter: packets sent again
    LINK_RX_BYTES = raw.METRIC_LINK_RX_BYTES  # count, counter; link to other devices, from 1
    LINK_TX_BYTES = raw.METRIC_LINK_TX_BYTES  # count, counter; link to other devices, from 1


class Engine(Number):
    """Engine of a device: instance of HMN_METRIC_ENGINE_*."""

    UNKNOWN = raw.ENGINE_UNKNOWN
    GRAPHICS = raw.ENGINE_GRAPHICS
    COMPUTE = raw.ENGINE_COMPUTE
    COPY = raw.ENGINE_COPY
    DECODE = raw.ENGINE_DECODE
    ENCODE = raw.ENGINE_ENCODE
    VIDEO = raw.ENGINE_VIDEO  # video decoding and encoding, or image enhancement
    OTHER = raw.ENGINE_OTHER
    MEMORY = raw.ENGINE_MEMORY  # the memory controller


class Sensor(Number):
    """Temperature sensor: instance of MetricId.TEMPERATURE and its limits."""

    UNKNOWN = raw.SENSOR_UNKNOWN
    CORE = raw.SENSOR_CORE  # edge of the die, or its average
    HOTSPOT = raw.SENSOR_HOTSPOT
    MEMORY = raw.SENSOR_MEMORY
    PACKAGE = raw.SENSOR_PACKAGE
    BOARD = raw.SENSOR_BOARD
    REGULATOR = raw.SENSOR_REGULATOR


class Power(Number):
    """Kind of power: instance of MetricId.POWER_WATTS and MetricId.ENERGY_JOULES."""

    UNKNOWN = raw.POWER_READING_UNKNOWN
    AVERAGE = raw.POWER_READING_AVERAGE  # of the device, over window where that is known
    INSTANT = raw.POWER_READING_INSTANT  # of the device, now
    PACKAGE = raw.POWER_READING_PACKAGE  # of the whole package, including a CPU
    MEMORY = raw.POWER_READING_MEMORY
    BOARD = raw.POWER_READING_BOARD


class PowerLimit(Number):
    """Kind of power limit: instance of MetricId.POWER_LIMIT_WATTS."""

    UNKNOWN = raw.POWER_LIMIT_UNKNOWN
    CURRENT = raw.POWER_LIMIT_CURRENT
    DEFAULT = raw.POWER_LIMIT_DEFAULT  # the vendor's default
    MIN = raw.POWER_LIMIT_MIN  # lowest limit that can be set
    MAX = raw.POWER_LIMIT_MAX  # highest limit that can be set


class Clock(Number):
    """Clock domain: instance of MetricId.CLOCK_MHZ and MetricId.CLOCK_LIMIT_MHZ."""

    UNKNOWN = raw.CLOCK_UNKNOWN
    CORE = raw.CLOCK_CORE  # graphics
    MEMORY = raw.CLOCK_MEMORY
    SM = raw.CLOCK_SM  # NVIDIA's streaming multiprocessors
    VIDEO = raw.CLOCK_VIDEO
    MEDIA = raw.CLOCK_MEDIA
    SOC = raw.CLOCK_SOC
    FABRIC = raw.CLOCK_FABRIC
    REQUESTED = raw.CLOCK_REQUESTED  # of the core, before limits


class Rail(Number):
    """Voltage rail: instance of MetricId.VOLTAGE."""

    UNKNOWN = raw.RAIL_UNKNOWN
    CORE = raw.RAIL_CORE
    SOC = raw.RAIL_SOC
    MEMORY = raw.RAIL_MEMORY
    BOARD = raw.RAIL_BOARD


class Era(Number):
    """Period of an error count: instance of MetricId.ECC_CORRECTED and MetricId.ECC_UNCORRECTED."""

    UNKNOWN = raw.ERA_UNKNOWN
    SINCE_LOAD = raw.ERA_SINCE_LOAD  # since the driver was loaded, or the device reset
    LIFETIME = raw.ERA_LIFETIME  # of the device


class Remapped(Number):
    """State of remapped memory rows: instance of MetricId.ROWS_REMAPPED."""

    UNKNOWN = raw.REMAPPED_UNKNOWN
    CORRECTED = raw.REMAPPED_CORRECTED  # rows of memory replaced after corrected errors
    UNCORRECTED = raw.REMAPPED_UNCORRECTED  # after uncorrected errors
    PENDING = raw.REMAPPED_PENDING  # 1: a reset will replace rows, 0: none pending
    FAILED = raw.REMAPPED_FAILED  # 1: a row could not be replaced, 0: none


class NumberKind(Number):
    """Kind of a metric's number. It determines how to show the number, and whether to take differences."""

    UNKNOWN = raw.NUMBER_KIND_UNKNOWN
    GAUGE = raw.NUMBER_KIND_GAUGE  # rises and falls
    COUNTER = raw.NUMBER_KIND_COUNTER  # only rises, until the driver or the device restarts
    CONSTANT = raw.NUMBER_KIND_CONSTANT  # a property of the device


class UsageKind(Flags):
    """Kinds of work of a process on a device."""

    COMPUTE = raw.USAGE_KIND_COMPUTE
    GRAPHICS = raw.USAGE_KIND_GRAPHICS
    MEDIA = raw.USAGE_KIND_MEDIA


class NameState(Number):
    """State of a process' name."""

    UNKNOWN = raw.NAME_STATE_UNKNOWN
    RESOLVED = raw.NAME_STATE_RESOLVED
    EXITED = raw.NAME_STATE_EXITED  # listed by the driver, no longer by the system
    PROTECTED = raw.NAME_STATE_PROTECTED  # not readable with the caller's permissions
    KERNEL = raw.NAME_STATE_KERNEL  # the kernel itself


class Collect(Flags):
    """What a snapshot collects."""

    MEMORY = raw.COLLECT_MEMORY  # the caller's host memory: resident and virtual
    SYSTEM = raw.COLLECT_SYSTEM  # the host's memory
    DEVICES = raw.COLLECT_DEVICES  # identity of the devices (implied by the following)
    POOLS = raw.COLLECT_POOLS  # memory of the devices
    SELF = raw.COLLECT_SELF  # usage of the caller on each device
    PROCESSES = raw.COLLECT_PROCESSES  # usage of every process on each device
    TELEMETRY = raw.COLLECT_TELEMETRY  # load, temperature, power
    METRICS = raw.COLLECT_METRICS  # every metric that the sources report
    GROUPS = raw.COLLECT_GROUPS  # usage of every control group on each device


class SnapshotFlag(Flags):
    """Scope and cost of a snapshot."""

    ONE_DEVICE = raw.SNAPSHOT_ONE_DEVICE  # only the device device_index
    ONE_PROCESS = raw.SNAPSHOT_ONE_PROCESS  # only the usage rows of pid
    # include metrics that take more than a few milliseconds; they are read last and delay nothing else
    SLOW = raw.SNAPSHOT_SLOW
    # leave out values that take the driver milliseconds (for NVIDIA the energy, the highest clocks and the
    # load of each process): Reason.NOT_YET. Not with SnapshotFlag.SLOW
    QUICK = raw.SNAPSHOT_QUICK
    PARTS = raw.SNAPSHOT_PARTS  # also list the parts of pools: see Pool.instance


class LineFlag(Flags):
    """Form of human-readable lines."""

    MB = raw.LINE_MB  # "MB" for MiB, as the Rust crate hypomnesis 0.2 writes them


class Format(Number):
    """Value in the line of a device."""

    FREE = raw.FORMAT_FREE
    TOTAL = raw.FORMAT_TOTAL
    USED = raw.FORMAT_USED


class SamplerFlag(Flags):
    """Options of a sampler."""

    PEAKS_ONLY = raw.SAMPLER_PEAKS_ONLY  # keep no snapshots, only latest values and peaks


class SamplerState(Number):
    """State of a sampler; it only moves forward."""

    IDLE = raw.SAMPLER_STATE_IDLE
    RUNNING = raw.SAMPLER_STATE_RUNNING
    STOPPED = raw.SAMPLER_STATE_STOPPED


class Dtype(Number):
    """Data type of an element."""

    UNKNOWN = raw.DTYPE_UNKNOWN
    U8 = raw.DTYPE_U8
    I8 = raw.DTYPE_I8
    U16 = raw.DTYPE_U16
    I16 = raw.DTYPE_I16
    U32 = raw.DTYPE_U32
    I32 = raw.DTYPE_I32
    U64 = raw.DTYPE_U64
    I64 = raw.DTYPE_I64
    F16 = raw.DTYPE_F16
    BF16 = raw.DTYPE_BF16
    F32 = raw.DTYPE_F32
    F64 = raw.DTYPE_F64
    F8E4M3 = raw.DTYPE_F8E4M3
    F8E5M2 = raw.DTYPE_F8E5M2
    F8E8M0 = raw.DTYPE_F8E8M0  # a scale: exponent only
    F6E2M3 = raw.DTYPE_F6E2M3  # 6 bits
    F6E3M2 = raw.DTYPE_F6E3M2  # 6 bits
    F4 = raw.DTYPE_F4  # 4 bits: e2m1
    I4 = raw.DTYPE_I4  # 4 bits
    U4 = raw.DTYPE_U4  # 4 bits
    BOOL = raw.DTYPE_BOOL  # 8 bits, as frameworks store it


class CacheKind(Number):
    """What layers cache of earlier tokens."""

    FULL = raw.CACHE_FULL  # keys or values of each token: MHA, GQA and MQA, by kv_heads
    WINDOW = raw.CACHE_WINDOW  # the same, of the last `window` tokens and the first `sinks` tokens
    LATENT = raw.CACHE_LATENT  # one vector for each token: MLA (DeepSeek)
    STATE = raw.CACHE_STATE  # one state of fixed size: Mamba and other SSMs


class SpillState(Flags):
    """State of a detector, current and latched."""

    MEASURABLE = raw.SPILL_STATE_MEASURABLE  # at least one observation had values
    NOW = raw.SPILL_STATE_NOW  # the last observation spilled
    EVER = raw.SPILL_STATE_EVER  # any observation spilled


class SpillRule(Flags):
    """Rules that held."""

    SHARED = raw.SPILL_BY_SHARED
    EVICTED = raw.SPILL_BY_EVICTED


class ProcessMemoryField(Flags):
    """Fields of a ProcessMemory, as a Diagnostic names them."""

    RESIDENT = raw.PROCESS_MEMORY_HAS_RESIDENT
    PEAK_RESIDENT = raw.PROCESS_MEMORY_HAS_PEAK_RESIDENT
    VIRTUAL = raw.PROCESS_MEMORY_HAS_VIRTUAL
    SWAP = raw.PROCESS_MEMORY_HAS_SWAP
    PROPORTIONAL = raw.PROCESS_MEMORY_HAS_PROPORTIONAL
    PRIVATE = raw.PROCESS_MEMORY_HAS_PRIVATE
    COMMITTED = raw.PROCESS_MEMORY_HAS_COMMITTED
    FOOTPRINT = raw.PROCESS_MEMORY_HAS_FOOTPRINT
    PEAK_FOOTPRINT = raw.PROCESS_MEMORY_HAS_PEAK_FOOTPRINT
    PEAK_COMMITTED = raw.PROCESS_MEMORY_HAS_PEAK_COMMITTED
    PROCESS_KEY = raw.PROCESS_MEMORY_HAS_PROCESS_KEY


class SystemMemoryField(Flags):
    """Fields of a SystemMemory, as a Diagnostic names them."""

    TOTAL = raw.SYSTEM_MEMORY_HAS_TOTAL
    AVAILABLE = raw.SYSTEM_MEMORY_HAS_AVAILABLE
    SWAP_TOTAL = raw.SYSTEM_MEMORY_HAS_SWAP_TOTAL
    SWAP_FREE = raw.SYSTEM_MEMORY_HAS_SWAP_FREE
    LIMIT = raw.SYSTEM_MEMORY_HAS_LIMIT
    LIMIT_USED = raw.SYSTEM_MEMORY_HAS_LIMIT_USED
    COMMIT_LIMIT = raw.SYSTEM_MEMORY_HAS_COMMIT_LIMIT
    COMMITTED = raw.SYSTEM_MEMORY_HAS_COMMITTED
    PRESSURE = raw.SYSTEM_MEMORY_HAS_PRESSURE
    STALL = raw.SYSTEM_MEMORY_HAS_STALL
    USABLE = raw.SYSTEM_MEMORY_HAS_USABLE


class DeviceField(Flags):
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
    CUDA_VERSION = raw.DEVICE_HAS_CUDA_VERSION  # cuda_version_major and cuda_version_minor
    COMPUTE_CAPABILITY = raw.DEVICE_HAS_COMPUTE_CAPABILITY  # compute_capability_major and …_minor
    ARCHITECTURE = raw.DEVICE_HAS_ARCHITECTURE


class PoolField(Flags):
    """Fields of a Pool, as a Diagnostic names them."""

    TOTAL = raw.POOL_HAS_TOTAL
    FREE = raw.POOL_HAS_FREE
    USED = raw.POOL_HAS_USED
    RESERVED = raw.POOL_HAS_RESERVED
    USABLE = raw.POOL_HAS_USABLE
    BUDGET = raw.POOL_HAS_BUDGET
    UNATTRIBUTED = raw.POOL_HAS_UNATTRIBUTED


class TelemetryField(Flags):
    """Fields of a Telemetry, as a Diagnostic names them."""

    GPU_BUSY = raw.TELEMETRY_HAS_GPU_BUSY
    MEMORY_BUSY = raw.TELEMETRY_HAS_MEMORY_BUSY
    ENCODER_BUSY = raw.TELEMETRY_HAS_ENCODER_BUSY
    DECODER_BUSY = raw.TELEMETRY_HAS_DECODER_BUSY
    TEMPERATURE = raw.TELEMETRY_HAS_TEMPERATURE
    HOTSPOT = raw.TELEMETRY_HAS_HOTSPOT
    MEMORY_TEMPERATURE = raw.TELEMETRY_HAS_MEMORY_TEMPERATURE  # memory_celsius
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


class UsageField(Flags):
    """Fields of a Usage, as a Diagnostic names them."""

    USED = raw.USAGE_HAS_USED
    RESIDENT = raw.USAGE_HAS_RESIDENT
    COMMITTED = raw.USAGE_HAS_COMMITTED
    ALLOCATED = raw.USAGE_HAS_ALLOCATED
    SHARED = raw.USAGE_HAS_SHARED
    PURGEABLE = raw.USAGE_HAS_PURGEABLE
    EVICTED = raw.USAGE_HAS_EVICTED
    HOST_POOL = raw.USAGE_HAS_HOST_POOL
    HOST_RESIDENT = raw.USAGE_HAS_HOST_RESIDENT
    BUDGET = raw.USAGE_HAS_BUDGET
    BUSY_NS = raw.USAGE_HAS_BUSY_NS
    BUSY_PERCENT = raw.USAGE_HAS_BUSY_PERCENT  # busy_percent and window
    START_TIME = raw.USAGE_HAS_START_TIME  # start_time
    UID = raw.USAGE_HAS_UID
    INSTANCE = raw.USAGE_HAS_INSTANCE  # gpu_instance and compute_instance
    KINDS = raw.USAGE_HAS_KINDS
    PEAK_USED = raw.USAGE_HAS_PEAK_USED
    PROCESS_KEY = raw.USAGE_HAS_PROCESS_KEY


class GroupField(Flags):
    """Fields of a Group, as a Diagnostic names them."""

    USED = raw.GROUP_HAS_USED
    LIMIT = raw.GROUP_HAS_LIMIT
