// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hypomnesis.hpp: libhypomnesis for C++17 and newer. Header only: link the C library and nothing
// else.
//
//     hypomnesis::context context;
//     if (const auto pool = context.pool(0); pool.free_bytes)
//       std::printf("%llu bytes free\n", static_cast<unsigned long long>(*pool.free_bytes));
//
// hypomnesis.h is the specification: a struct here has the fields of the C struct of its name, with
// the same names and units (bytes, MHz, degrees Celsius, watts, nanoseconds). The parts between
// `begin generated` and `end generated` are written from it by bindings/generate. Three things
// differ:
//
// Absence. A value that may be unknown is a std::optional; no number means "unknown". Errors. A
// call that fails throws hypomnesis::error. Use of a context or snapshot that was closed or moved
// from throws hypomnesis::closed: it is a mistake of the program. Ownership. context and snapshot
// release what they hold. Either may be closed or destroyed first, and close() may be called while
// other threads are inside calls: what those use stays valid until they return. Values are copies.
//
// Enumerations grow: compare with the names here and treat any other number as unknown. A set of
// bits is an enumeration with |, &, ^, ~ and has().
#ifndef HYPOMNESIS_HPP
#define HYPOMNESIS_HPP
#include <hypomnesis.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L && __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_jthread)
#include <algorithm>
#include <stop_token>
#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#endif
#endif

namespace hypomnesis {

// ---- numbers with names
// ----------------------------------------------------------------------------------------

// clang-format off
// begin generated: constants
// Statuses.
enum class status_code : std::int32_t {
  ok = HMN_OK,
  argument = HMN_E_ARGUMENT,  // an argument is NULL, empty or malformed
  struct_size = HMN_E_STRUCT_SIZE,  // struct_size is not supported by this library
  // an unknown flag bit, or a nonzero byte past the known fields
  unknown_flag = HMN_E_UNKNOWN_FLAG,
  range = HMN_E_RANGE,  // an index past the end, or a number out of range
  no_memory = HMN_E_NO_MEMORY,  // the host's memory is exhausted
  unsupported = HMN_E_UNSUPPORTED,  // not supported by this system, device or driver
  no_source = HMN_E_NO_SOURCE,  // no source of this value: no library, no driver, no tool
  no_device = HMN_E_NO_DEVICE,  // no device with that index or key
  no_process = HMN_E_NO_PROCESS,  // no such process, or it has exited
  permission = HMN_E_PERMISSION,  // the system or the driver refused
  timeout = HMN_E_TIMEOUT,  // the driver did not answer within the deadline
  device_lost = HMN_E_DEVICE_LOST,  // the device is gone: unplugged, fallen off the bus, reset
  backend = HMN_E_BACKEND,  // a driver or tool returned an error or an invalid answer
  limit = HMN_E_LIMIT,  // a limit was reached
  overflow = HMN_E_OVERFLOW,  // the result does not fit 64 bits
  forked = HMN_E_FORKED,  // the handle was created before fork()
  buffer = HMN_E_BUFFER,  // the buffer is too small; *needed is the size required
  empty = HMN_E_EMPTY,  // not requested, or no data
  internal = HMN_E_INTERNAL,  // a defect of this library; please report it
  asleep = HMN_E_ASLEEP,  // a reading would wake the device, or keep it awake
  state = HMN_E_STATE,  // the call is not allowed in the handle's current state
  cancelled = HMN_E_CANCELLED  // the context was cancelled, and the call would have to wait
};

// Source of a value. Numbers stay below 64, because masks are 64 bits wide.
enum class backend_id : std::uint32_t {
  none = HMN_BACKEND_NONE,
  os = HMN_BACKEND_OS,  // the operating system itself
  nvml = HMN_BACKEND_NVML,  // NVIDIA's management library
  // NVIDIA's nvidia-smi command, for what NVML does not report
  nvidia_smi = HMN_BACKEND_NVIDIA_SMI,
  amdgpu = HMN_BACKEND_AMDGPU,  // AMD's kernel driver: sysfs and fdinfo
  kfd = HMN_BACKEND_KFD,  // AMD's compute driver: memory of compute processes
  rocm_smi = HMN_BACKEND_ROCM_SMI,  // AMD's rocm-smi command, for what the kernel does not report
  i915 = HMN_BACKEND_I915,  // Intel's older kernel driver
  xe = HMN_BACKEND_XE,  // Intel's newer kernel driver
  drm = HMN_BACKEND_DRM,  // any kernel DRM driver: sysfs, and the fdinfo files of its clients
  dxgi = HMN_BACKEND_DXGI,  // Windows: the adapters, and the caller's memory budget on them
  pdh = HMN_BACKEND_PDH,  // Windows: the performance counters of adapters and processes
  metal = HMN_BACKEND_METAL,  // macOS: Metal and the I/O Registry
  macmon = HMN_BACKEND_MACMON,  // macOS: the macmon command
  tegra = HMN_BACKEND_TEGRA,  // NVIDIA's SoCs (Jetson): sysfs
  dmem = HMN_BACKEND_DMEM,  // the kernel's dmem cgroup controller (device memory)
  simulated = HMN_BACKEND_SIMULATED,  // a machine described by a file: nothing was measured
  amd_smi = HMN_BACKEND_AMD_SMI  // AMD's amd-smi command, for what the kernel does not report
};

// Note flags of a result; each bit has one meaning in every struct.
enum class note : hmn_flags {
  stale = HMN_NOTE_STALE,  // the last known value, age_ns old: the driver did not answer
  // at least this much: a part is not visible, or memory that several may share is counted once
  lower_bound = HMN_NOTE_LOWER_BOUND,
  estimated = HMN_NOTE_ESTIMATED,  // derived from other values, not measured
  truncated = HMN_NOTE_TRUNCATED,  // a char[N] field was cut
  mixed = HMN_NOTE_MIXED,  // several backends; `backend` is the first
  foreign_pid = HMN_NOTE_FOREIGN_PID,  // pid belongs to another PID namespace
  partial = HMN_NOTE_PARTIAL,  // a requested value is missing: see the diagnostics
  trace = HMN_NOTE_TRACE,  // diagnostics: a driver call, recorded by context_flag::trace
  // devices: its memory belongs to its partitions, which are separate devices
  divided = HMN_NOTE_DIVIDED
};

// Scope of a value.
enum class scope_kind : std::uint32_t {
  none = HMN_DELTA_SCOPE_NONE,
  process = HMN_DELTA_SCOPE_PROCESS,
  device = HMN_DELTA_SCOPE_DEVICE
};

// How bytes are accounted.
enum class accounting_kind : std::uint32_t {
  none = HMN_ACCOUNT_NONE,
  resident = HMN_ACCOUNT_RESIDENT,  // has backing store now
  committed = HMN_ACCOUNT_COMMITTED,  // committed, with or without backing store
  allocated = HMN_ACCOUNT_ALLOCATED  // allocations as the driver accounts them (NVML)
};

// Domain of a native_code.
enum class domain : std::uint32_t {
  none = HMN_NATIVE_NONE,
  errno_code = HMN_NATIVE_ERRNO,  // errno
  win32 = HMN_NATIVE_WIN32,  // GetLastError
  hresult = HMN_NATIVE_HRESULT,  // HRESULT
  ntstatus = HMN_NATIVE_NTSTATUS,  // NTSTATUS
  pdh = HMN_NATIVE_PDH,  // PDH_STATUS
  kern = HMN_NATIVE_KERN,  // kern_return_t
  nvml = HMN_NATIVE_NVML,  // nvmlReturn_t
  exit_code = HMN_NATIVE_EXIT  // exit code of a helper program; 128 + n: killed by signal n
};

// PCI vendor ids.
enum class vendor_id : std::uint32_t {
  unknown = HMN_VENDOR_UNKNOWN,
  amd = HMN_VENDOR_AMD,
  apple = HMN_VENDOR_APPLE,
  nvidia = HMN_VENDOR_NVIDIA,
  qualcomm = HMN_VENDOR_QUALCOMM,
  intel = HMN_VENDOR_INTEL
};

// Why a value is missing. The statuses of a call give the same reasons, less precisely.
enum class reason_id : std::uint32_t {
  unknown = HMN_REASON_UNKNOWN,
  unsupported = HMN_REASON_UNSUPPORTED,  // not supported by this device, driver or system
  not_present = HMN_REASON_NOT_PRESENT,  // no such source, device or process
  not_understood = HMN_REASON_NOT_UNDERSTOOD,  // present, in a form that this library does not know
  ambiguous = HMN_REASON_AMBIGUOUS,  // the known data is ambiguous and determines no value
  not_permitted = HMN_REASON_NOT_PERMITTED,  // the system or the driver refused
  // known after a later reading: it is not read at every interval, or is the difference of two
  // readings
  not_yet = HMN_REASON_NOT_YET,
  asleep = HMN_REASON_ASLEEP,  // a reading would wake the device, or keep it awake
  lost = HMN_REASON_LOST,  // the device is gone
  timed_out = HMN_REASON_TIMED_OUT,  // the driver did not answer within the deadline
  failed = HMN_REASON_FAILED,  // a driver, a tool or the system returned an error
  implausible = HMN_REASON_IMPLAUSIBLE,  // the driver returned an impossible value
  limit = HMN_REASON_LIMIT  // a limit of this library, or of the host's memory, was reached
};

// Features that a library may be built with: hmn_feature.
enum class feature_id : std::uint32_t {
  subprocess = HMN_FEATURE_SUBPROCESS,  // code that runs helper programs is compiled in
  simulation = HMN_FEATURE_SIMULATION  // path_kind::simulation works
};

// Options of a context.
enum class context_flag : hmn_flags {
  // never run a helper program (nvidia-smi, rocm-smi, amd-smi, macmon)
  no_subprocess = HMN_CONTEXT_NO_SUBPROCESS,
  wake_devices = HMN_CONTEXT_WAKE_DEVICES,  // wake sleeping GPUs to read them
  // start no threads: a driver may then block the caller, and a deadline is only checked between
  // driver calls
  no_threads = HMN_CONTEXT_NO_THREADS,
  // read the HMN_* variables now, with getenv (never if set-user-id): see "Threads" above
  environment = HMN_CONTEXT_ENVIRONMENT,
  trace = HMN_CONTEXT_TRACE,  // add each driver call to the snapshot's diagnostics
  record = HMN_CONTEXT_RECORD  // keep what the backends read: hmn_context_recording
};

// Paths that replace the defaults. With context_flag::environment the variable in brackets has the
// same effect.
enum class path_kind : std::uint32_t {
  proc = HMN_PATH_PROC,  // the proc tree, default "/proc" [HMN_PROC]
  sys = HMN_PATH_SYS,  // the sysfs tree, default "/sys" [HMN_SYS]
  nvml = HMN_PATH_NVML,  // the NVML library, by absolute path [HMN_NVML]
  nvidia_smi = HMN_PATH_NVIDIA_SMI,  // the nvidia-smi program, by absolute path [HMN_NVIDIA_SMI]
  rocm_smi = HMN_PATH_ROCM_SMI,  // the rocm-smi program, by absolute path [HMN_ROCM_SMI]
  macmon = HMN_PATH_MACMON,  // the macmon program, by absolute path [HMN_MACMON]
  // a machine file, a recording or a folder of copied kernel files: it replaces every other source
  // [HMN_SIMULATION]
  simulation = HMN_PATH_SIMULATION,
  cgroup = HMN_PATH_CGROUP,  // the cgroup mount, default: found in mountinfo [HMN_CGROUP]
  amd_smi = HMN_PATH_AMD_SMI,  // the amd-smi program, by absolute path [HMN_AMD_SMI]
  // the device nodes, default "/dev" with the default sysfs tree, else none [HMN_DEV]
  dev = HMN_PATH_DEV
};

// State of a backend or a device.
enum class run_state : std::uint32_t {
  unknown = HMN_RUN_STATE_UNKNOWN,  // not tried yet
  ready = HMN_RUN_STATE_READY,  // readable
  asleep = HMN_RUN_STATE_ASLEEP,  // runtime suspended; only identity and totals are known
  lost = HMN_RUN_STATE_LOST,  // was present and is gone
  unreadable = HMN_RUN_STATE_UNREADABLE,  // present, and returns errors
  // a driver call has not returned: it hangs, or is still starting the device
  hung = HMN_RUN_STATE_HUNG,
  absent = HMN_RUN_STATE_ABSENT,  // not on this machine
  off = HMN_RUN_STATE_OFF  // disabled by the context or not compiled in
};

// Memory pressure, as the system itself reports it.
enum class pressure_level : std::uint32_t {
  unknown = HMN_PRESSURE_UNKNOWN,
  normal = HMN_PRESSURE_NORMAL,
  warning = HMN_PRESSURE_WARNING,  // programs should release memory
  critical = HMN_PRESSURE_CRITICAL  // the system kills processes next; never reported by Windows
};

// Class of a device; bit n of hmn_context_options.device_classes is class n.
enum class device_class : std::uint32_t {
  unknown = HMN_DEVICE_CLASS_UNKNOWN,
  gpu = HMN_DEVICE_CLASS_GPU,
  npu = HMN_DEVICE_CLASS_NPU  // an accelerator for computations only, such as neural networks
};

// Form of a device; a partition has the form of its parent.
enum class device_form : std::uint32_t {
  unknown = HMN_DEVICE_FORM_UNKNOWN,
  discrete = HMN_DEVICE_FORM_DISCRETE,
  integrated = HMN_DEVICE_FORM_INTEGRATED,  // a part of the processor or SoC
  virtual_device = HMN_DEVICE_FORM_VIRTUAL
};

// Kind of a device's memory.
enum class device_memory : std::uint32_t {
  unknown = HMN_MEMORY_KIND_UNKNOWN,
  dedicated = HMN_MEMORY_KIND_DEDICATED,  // its own memory
  unified = HMN_MEMORY_KIND_UNIFIED,  // allocated from the host's RAM (GB10, Jetson, Apple)
  // its own memory, which is also a NUMA node of the host (GH200)
  coherent = HMN_MEMORY_KIND_COHERENT
};

// Kind of a memory pool. A device has at most one pool of each kind, and a pool may have parts. An
// APU has pool_kind::vram and pool_kind::host; a unified GPU has only UNIFIED.
enum class pool_kind : std::uint32_t {
  main = HMN_POOL_MAIN,  // in requests: the pool that allocations come from
  vram = HMN_POOL_VRAM,  // the device's own memory
  // the part of the device's own memory that the host can address
  vram_visible = HMN_POOL_VRAM_VISIBLE,
  host = HMN_POOL_HOST,  // host RAM mapped for the device (GTT, WDDM shared)
  unified = HMN_POOL_UNIFIED,  // host RAM that the device allocates from as its own
  stolen = HMN_POOL_STOLEN  // host RAM reserved by firmware
};

// Why clocks are reduced.
enum class throttle_reason : hmn_flags {
  idle = HMN_THROTTLE_IDLE,
  power = HMN_THROTTLE_POWER,
  thermal = HMN_THROTTLE_THERMAL,
  hardware = HMN_THROTTLE_HARDWARE,
  setting = HMN_THROTTLE_SETTING,
  other = HMN_THROTTLE_OTHER
};

// Metric: one number of a device. A metric is a value for which telemetry has no field, or one
// instance of a value that it has (each sensor, each fan, each clock). Numbers are appended; unit,
// kind and instances are part of a metric's meaning: hmn_metric_unit, hmn_metric_kind. A "count" is
// a whole number, in `count`; all other metrics are in `value`.
enum class metric_id : std::uint32_t {
  unknown = HMN_METRIC_UNKNOWN,
  engine_busy_ns = HMN_METRIC_ENGINE_BUSY_NS,  // count, ns, counter; instance: engine_id
  engine_percent = HMN_METRIC_ENGINE_PERCENT,  // 0..100 of window_ns; instance: engine_id
  engine_capacity = HMN_METRIC_ENGINE_CAPACITY,  // count: number of engines; instance: engine_id
  temperature = HMN_METRIC_TEMPERATURE,  // Celsius; instance: sensor_id
  // Celsius: where the device slows down; sensor_id
  temperature_limit = HMN_METRIC_TEMPERATURE_LIMIT,
  fan_rpm = HMN_METRIC_FAN_RPM,  // RPM; instance: fan, from 1
  fan_percent = HMN_METRIC_FAN_PERCENT,  // of the highest speed, may exceed 100; fan, from 1
  power_watts = HMN_METRIC_POWER_WATTS,  // W; instance: power_id
  energy_joules = HMN_METRIC_ENERGY_JOULES,  // J, counter: take differences; power_id
  clock_mhz = HMN_METRIC_CLOCK_MHZ,  // MHz; instance: clock_id
  clock_limit_mhz = HMN_METRIC_CLOCK_LIMIT_MHZ,  // MHz: maximum; instance: clock_id
  voltage = HMN_METRIC_VOLTAGE,  // V; instance: rail_id
  // Celsius: where the device shuts down; sensor_id
  temperature_shutdown = HMN_METRIC_TEMPERATURE_SHUTDOWN,
  power_limit_watts = HMN_METRIC_POWER_LIMIT_WATTS,  // W; instance: power_limit_id
  ecc_corrected = HMN_METRIC_ECC_CORRECTED,  // count of memory errors; instance: era_id
  ecc_uncorrected = HMN_METRIC_ECC_UNCORRECTED,  // count of memory errors; instance: era_id
  rows_remapped = HMN_METRIC_ROWS_REMAPPED,  // count; instance: remapped_id
  last_fault = HMN_METRIC_LAST_FAULT,  // count: the driver's fault number (NVIDIA: Xid)
  throttle_ns = HMN_METRIC_THROTTLE_NS,  // count, ns throttled, counter; throttle_reason
  pcie_rx_bytes = HMN_METRIC_PCIE_RX_BYTES,  // count, counter: received by the device
  pcie_tx_bytes = HMN_METRIC_PCIE_TX_BYTES,  // count, counter: sent by the device
  pcie_replays = HMN_METRIC_PCIE_REPLAYS,  // count, counter: packets sent again
  link_rx_bytes = HMN_METRIC_LINK_RX_BYTES,  // count, counter; link to other devices, from 1
  link_tx_bytes = HMN_METRIC_LINK_TX_BYTES  // count, counter; link to other devices, from 1
};

// Engine of a device: instance of HMN_METRIC_ENGINE_*.
enum class engine_id : std::uint32_t {
  unknown = HMN_ENGINE_UNKNOWN,
  graphics = HMN_ENGINE_GRAPHICS,
  compute = HMN_ENGINE_COMPUTE,
  copy = HMN_ENGINE_COPY,
  decode = HMN_ENGINE_DECODE,
  encode = HMN_ENGINE_ENCODE,
  video = HMN_ENGINE_VIDEO,  // video decoding and encoding, or image enhancement
  other = HMN_ENGINE_OTHER,
  memory = HMN_ENGINE_MEMORY  // the memory controller
};

// Temperature sensor: instance of metric_id::temperature and its limits.
enum class sensor_id : std::uint32_t {
  unknown = HMN_SENSOR_UNKNOWN,
  core = HMN_SENSOR_CORE,  // edge of the die, or its average
  hotspot = HMN_SENSOR_HOTSPOT,
  memory = HMN_SENSOR_MEMORY,
  package = HMN_SENSOR_PACKAGE,
  board = HMN_SENSOR_BOARD,
  regulator = HMN_SENSOR_REGULATOR
};

// Kind of power: instance of metric_id::power_watts and metric_id::energy_joules.
enum class power_id : std::uint32_t {
  unknown = HMN_POWER_READING_UNKNOWN,
  average = HMN_POWER_READING_AVERAGE,  // of the device, over window_ns where that is known
  instant = HMN_POWER_READING_INSTANT,  // of the device, now
  package = HMN_POWER_READING_PACKAGE,  // of the whole package, including a CPU
  memory = HMN_POWER_READING_MEMORY,
  board = HMN_POWER_READING_BOARD
};

// Kind of power limit: instance of metric_id::power_limit_watts.
enum class power_limit_id : std::uint32_t {
  unknown = HMN_POWER_LIMIT_UNKNOWN,
  current = HMN_POWER_LIMIT_CURRENT,
  usual = HMN_POWER_LIMIT_DEFAULT,  // the vendor's default
  lowest = HMN_POWER_LIMIT_MIN,  // lowest limit that can be set
  highest = HMN_POWER_LIMIT_MAX  // highest limit that can be set
};

// Clock domain: instance of metric_id::clock_mhz and metric_id::clock_limit_mhz.
enum class clock_id : std::uint32_t {
  unknown = HMN_CLOCK_UNKNOWN,
  core = HMN_CLOCK_CORE,  // graphics
  memory = HMN_CLOCK_MEMORY,
  sm = HMN_CLOCK_SM,  // NVIDIA's streaming multiprocessors
  video = HMN_CLOCK_VIDEO,
  media = HMN_CLOCK_MEDIA,
  soc = HMN_CLOCK_SOC,
  fabric = HMN_CLOCK_FABRIC,
  requested = HMN_CLOCK_REQUESTED  // of the core, before limits
};

// Voltage rail: instance of metric_id::voltage.
enum class rail_id : std::uint32_t {
  unknown = HMN_RAIL_UNKNOWN,
  core = HMN_RAIL_CORE,
  soc = HMN_RAIL_SOC,
  memory = HMN_RAIL_MEMORY,
  board = HMN_RAIL_BOARD
};

// Period of an error count: instance of metric_id::ecc_corrected and metric_id::ecc_uncorrected.
enum class era_id : std::uint32_t {
  unknown = HMN_ERA_UNKNOWN,
  since_load = HMN_ERA_SINCE_LOAD,  // since the driver was loaded, or the device reset
  lifetime = HMN_ERA_LIFETIME  // of the device
};

// State of remapped memory rows: instance of metric_id::rows_remapped.
enum class remapped_id : std::uint32_t {
  unknown = HMN_REMAPPED_UNKNOWN,
  corrected = HMN_REMAPPED_CORRECTED,  // rows of memory replaced after corrected errors
  uncorrected = HMN_REMAPPED_UNCORRECTED,  // after uncorrected errors
  pending = HMN_REMAPPED_PENDING,  // 1: a reset will replace rows, 0: none pending
  failed = HMN_REMAPPED_FAILED  // 1: a row could not be replaced, 0: none
};

// Kind of a metric's number. It determines how to show the number, and whether to take differences.
enum class number_kind_id : std::uint32_t {
  unknown = HMN_NUMBER_KIND_UNKNOWN,
  gauge = HMN_NUMBER_KIND_GAUGE,  // rises and falls
  counter = HMN_NUMBER_KIND_COUNTER,  // only rises, until the driver or the device restarts
  constant = HMN_NUMBER_KIND_CONSTANT  // a property of the device
};

// Kinds of work of a process on a device.
enum class usage_kind : hmn_flags {
  compute = HMN_USAGE_KIND_COMPUTE,
  graphics = HMN_USAGE_KIND_GRAPHICS,
  media = HMN_USAGE_KIND_MEDIA
};

// State of a process' name.
enum class name_status : std::uint32_t {
  unknown = HMN_NAME_STATE_UNKNOWN,
  resolved = HMN_NAME_STATE_RESOLVED,
  exited = HMN_NAME_STATE_EXITED,  // listed by the driver, no longer by the system
  protected_process = HMN_NAME_STATE_PROTECTED,  // not readable with the caller's permissions
  kernel = HMN_NAME_STATE_KERNEL  // the kernel itself
};

// What a snapshot collects.
enum class part : hmn_flags {
  memory = HMN_COLLECT_MEMORY,  // the caller's host memory: resident and virtual
  system = HMN_COLLECT_SYSTEM,  // the host's memory
  devices = HMN_COLLECT_DEVICES,  // identity of the devices (implied by the following)
  pools = HMN_COLLECT_POOLS,  // memory of the devices
  self = HMN_COLLECT_SELF,  // usage of the caller on each device
  processes = HMN_COLLECT_PROCESSES,  // usage of every process on each device
  telemetry = HMN_COLLECT_TELEMETRY,  // load, temperature, power
  metrics = HMN_COLLECT_METRICS,  // every metric that the sources report
  groups = HMN_COLLECT_GROUPS  // usage of every control group on each device
};

// Form of human-readable lines.
enum class line_flag : hmn_flags {
  mb = HMN_LINE_MB  // "MB" for MiB, as the Rust crate hypomnesis 0.2 writes them
};

// Value in the line of a device.
enum class device_format : std::uint32_t {
  free = HMN_FORMAT_FREE,
  total = HMN_FORMAT_TOTAL,
  used = HMN_FORMAT_USED
};

// Options of a sampler.
enum class sampler_flag : hmn_flags {
  peaks_only = HMN_SAMPLER_PEAKS_ONLY  // keep no snapshots, only latest values and peaks
};

// State of a sampler; it only moves forward.
enum class sampler_state : std::uint32_t {
  unknown = 0,
  idle = HMN_SAMPLER_STATE_IDLE,
  running = HMN_SAMPLER_STATE_RUNNING,
  stopped = HMN_SAMPLER_STATE_STOPPED
};

// Data type of an element.
enum class dtype_id : std::uint32_t {
  unknown = HMN_DTYPE_UNKNOWN,
  u8 = HMN_DTYPE_U8,
  i8 = HMN_DTYPE_I8,
  u16 = HMN_DTYPE_U16,
  i16 = HMN_DTYPE_I16,
  u32 = HMN_DTYPE_U32,
  i32 = HMN_DTYPE_I32,
  u64 = HMN_DTYPE_U64,
  i64 = HMN_DTYPE_I64,
  f16 = HMN_DTYPE_F16,
  bf16 = HMN_DTYPE_BF16,
  f32 = HMN_DTYPE_F32,
  f64 = HMN_DTYPE_F64,
  f8e4m3 = HMN_DTYPE_F8E4M3,
  f8e5m2 = HMN_DTYPE_F8E5M2,
  f8e8m0 = HMN_DTYPE_F8E8M0,  // a scale: exponent only
  f6e2m3 = HMN_DTYPE_F6E2M3,  // 6 bits
  f6e3m2 = HMN_DTYPE_F6E3M2,  // 6 bits
  f4 = HMN_DTYPE_F4,  // 4 bits: e2m1
  i4 = HMN_DTYPE_I4,  // 4 bits
  u4 = HMN_DTYPE_U4,  // 4 bits
  boolean = HMN_DTYPE_BOOL  // 8 bits, as frameworks store it
};

// Options of an attention estimate.
enum class attention_flag : hmn_flags {
  fused = HMN_ATTENTION_FUSED  // scores are never stored in full (flash attention)
};

// What layers cache of earlier tokens.
enum class cache_kind : std::uint32_t {
  full = HMN_CACHE_FULL,  // keys or values of each token: MHA, GQA and MQA, by kv_heads
  window = HMN_CACHE_WINDOW,  // the same, of the last `window` tokens and the first `sinks` tokens
  latent = HMN_CACHE_LATENT,  // one vector for each token: MLA (DeepSeek)
  state = HMN_CACHE_STATE  // one state of fixed size: Mamba and other SSMs
};

// State of a detector, current and latched.
enum class spill_state : hmn_flags {
  measurable = HMN_SPILL_STATE_MEASURABLE,  // at least one observation had values
  now = HMN_SPILL_STATE_NOW,  // the last observation spilled
  ever = HMN_SPILL_STATE_EVER  // any observation spilled
};

// Rules that held.
enum class spill_rule : hmn_flags {
  shared = HMN_SPILL_BY_SHARED,
  evicted = HMN_SPILL_BY_EVICTED
};

// Fields of process_memory.
enum class process_memory_field : hmn_fields {
  resident = HMN_PROCESS_MEMORY_HAS_RESIDENT,
  peak_resident = HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT,
  virtual_size = HMN_PROCESS_MEMORY_HAS_VIRTUAL,
  swap = HMN_PROCESS_MEMORY_HAS_SWAP,
  proportional = HMN_PROCESS_MEMORY_HAS_PROPORTIONAL,
  private_set = HMN_PROCESS_MEMORY_HAS_PRIVATE,
  committed = HMN_PROCESS_MEMORY_HAS_COMMITTED,
  footprint = HMN_PROCESS_MEMORY_HAS_FOOTPRINT,
  peak_footprint = HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT,
  peak_committed = HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED,
  process_key = HMN_PROCESS_MEMORY_HAS_PROCESS_KEY
};

// Fields of system_memory.
enum class system_memory_field : hmn_fields {
  total = HMN_SYSTEM_MEMORY_HAS_TOTAL,
  available = HMN_SYSTEM_MEMORY_HAS_AVAILABLE,
  swap_total = HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL,
  swap_free = HMN_SYSTEM_MEMORY_HAS_SWAP_FREE,
  limit = HMN_SYSTEM_MEMORY_HAS_LIMIT,
  limit_used = HMN_SYSTEM_MEMORY_HAS_LIMIT_USED,
  commit_limit = HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT,
  committed = HMN_SYSTEM_MEMORY_HAS_COMMITTED,
  pressure = HMN_SYSTEM_MEMORY_HAS_PRESSURE,
  stall = HMN_SYSTEM_MEMORY_HAS_STALL,
  usable = HMN_SYSTEM_MEMORY_HAS_USABLE
};

// Fields of device.
enum class device_field : hmn_fields {
  name = HMN_DEVICE_HAS_NAME,
  uuid = HMN_DEVICE_HAS_UUID,
  pci = HMN_DEVICE_HAS_PCI,
  driver = HMN_DEVICE_HAS_DRIVER,
  parent = HMN_DEVICE_HAS_PARENT,
  pci_device = HMN_DEVICE_HAS_PCI_DEVICE,
  pci_subsystem = HMN_DEVICE_HAS_PCI_SUBSYSTEM,
  render_minor = HMN_DEVICE_HAS_RENDER_MINOR,
  numa_node = HMN_DEVICE_HAS_NUMA_NODE,
  instance = HMN_DEVICE_HAS_INSTANCE,  // gpu_instance and compute_instance
  driver_index = HMN_DEVICE_HAS_DRIVER_INDEX,
  os_id = HMN_DEVICE_HAS_OS_ID,
  cuda_version = HMN_DEVICE_HAS_CUDA_VERSION,  // cuda_version_major and cuda_version_minor
  compute_capability = HMN_DEVICE_HAS_COMPUTE_CAPABILITY,  // compute_capability_major and …_minor
  architecture = HMN_DEVICE_HAS_ARCHITECTURE
};

// Fields of pool.
enum class pool_field : hmn_fields {
  total = HMN_POOL_HAS_TOTAL,
  free = HMN_POOL_HAS_FREE,
  used = HMN_POOL_HAS_USED,
  reserved = HMN_POOL_HAS_RESERVED,
  usable = HMN_POOL_HAS_USABLE,
  budget = HMN_POOL_HAS_BUDGET,
  unattributed = HMN_POOL_HAS_UNATTRIBUTED
};

// Fields of telemetry.
enum class telemetry_field : hmn_fields {
  gpu_busy = HMN_TELEMETRY_HAS_GPU_BUSY,
  memory_busy = HMN_TELEMETRY_HAS_MEMORY_BUSY,
  encoder_busy = HMN_TELEMETRY_HAS_ENCODER_BUSY,
  decoder_busy = HMN_TELEMETRY_HAS_DECODER_BUSY,
  temperature = HMN_TELEMETRY_HAS_TEMPERATURE,
  hotspot = HMN_TELEMETRY_HAS_HOTSPOT,
  memory_temperature = HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE,  // memory_celsius
  power = HMN_TELEMETRY_HAS_POWER,
  power_limit = HMN_TELEMETRY_HAS_POWER_LIMIT,
  energy = HMN_TELEMETRY_HAS_ENERGY,
  core_clock = HMN_TELEMETRY_HAS_CORE_CLOCK,
  memory_clock = HMN_TELEMETRY_HAS_MEMORY_CLOCK,
  fan_percent = HMN_TELEMETRY_HAS_FAN_PERCENT,
  fan_rpm = HMN_TELEMETRY_HAS_FAN_RPM,
  pcie_generation = HMN_TELEMETRY_HAS_PCIE_GENERATION,
  pcie_width = HMN_TELEMETRY_HAS_PCIE_WIDTH,
  pcie_rx = HMN_TELEMETRY_HAS_PCIE_RX,
  pcie_tx = HMN_TELEMETRY_HAS_PCIE_TX,
  throttle = HMN_TELEMETRY_HAS_THROTTLE,
  p_state = HMN_TELEMETRY_HAS_P_STATE,
  window = HMN_TELEMETRY_HAS_WINDOW
};

// Fields of metric.
enum class metric_field : hmn_fields {
  value = HMN_METRIC_HAS_VALUE,
  count = HMN_METRIC_HAS_COUNT,
  window = HMN_METRIC_HAS_WINDOW
};

// Fields of usage.
enum class usage_field : hmn_fields {
  used = HMN_USAGE_HAS_USED,
  resident = HMN_USAGE_HAS_RESIDENT,
  committed = HMN_USAGE_HAS_COMMITTED,
  allocated = HMN_USAGE_HAS_ALLOCATED,
  shared = HMN_USAGE_HAS_SHARED,
  purgeable = HMN_USAGE_HAS_PURGEABLE,
  evicted = HMN_USAGE_HAS_EVICTED,
  host_pool = HMN_USAGE_HAS_HOST_POOL,
  host_resident = HMN_USAGE_HAS_HOST_RESIDENT,
  budget = HMN_USAGE_HAS_BUDGET,
  busy_ns = HMN_USAGE_HAS_BUSY_NS,
  busy_percent = HMN_USAGE_HAS_BUSY_PERCENT,  // busy_percent and window_ns
  start_time = HMN_USAGE_HAS_START_TIME,  // start_unix_ns
  uid = HMN_USAGE_HAS_UID,
  instance = HMN_USAGE_HAS_INSTANCE,  // gpu_instance and compute_instance
  kinds = HMN_USAGE_HAS_KINDS,
  peak_used = HMN_USAGE_HAS_PEAK_USED,
  process_key = HMN_USAGE_HAS_PROCESS_KEY
};

template <class T>
inline constexpr bool is_set_of_bits = false;
template <>
inline constexpr bool is_set_of_bits<note> = true;
template <>
inline constexpr bool is_set_of_bits<context_flag> = true;
template <>
inline constexpr bool is_set_of_bits<throttle_reason> = true;
template <>
inline constexpr bool is_set_of_bits<usage_kind> = true;
template <>
inline constexpr bool is_set_of_bits<part> = true;
template <>
inline constexpr bool is_set_of_bits<line_flag> = true;
template <>
inline constexpr bool is_set_of_bits<sampler_flag> = true;
template <>
inline constexpr bool is_set_of_bits<attention_flag> = true;
template <>
inline constexpr bool is_set_of_bits<spill_state> = true;
template <>
inline constexpr bool is_set_of_bits<spill_rule> = true;
template <>
inline constexpr bool is_set_of_bits<process_memory_field> = true;
template <>
inline constexpr bool is_set_of_bits<system_memory_field> = true;
template <>
inline constexpr bool is_set_of_bits<device_field> = true;
template <>
inline constexpr bool is_set_of_bits<pool_field> = true;
template <>
inline constexpr bool is_set_of_bits<telemetry_field> = true;
template <>
inline constexpr bool is_set_of_bits<metric_field> = true;
template <>
inline constexpr bool is_set_of_bits<usage_field> = true;
// end generated: constants
// clang-format on

// The number of an enumeration: number(backend_id::nvml) is HMN_BACKEND_NVML.
template <class T>
constexpr std::underlying_type_t<T> number(T value) noexcept {
  return static_cast<std::underlying_type_t<T>>(value);
}

template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T operator|(T a, T b) noexcept {
  return static_cast<T>(number(a) | number(b));
}
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T operator&(T a, T b) noexcept {
  return static_cast<T>(number(a) & number(b));
}
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T operator^(T a, T b) noexcept {
  return static_cast<T>(number(a) ^ number(b));
}
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T operator~(T a) noexcept {
  return static_cast<T>(~number(a));
}
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T& operator|=(T& a, T b) noexcept {
  return a = a | b;
}
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr T& operator&=(T& a, T b) noexcept {
  return a = a & b;
}

// Whether `set` has all of `bits`.
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr bool has(T set, T bits) noexcept {
  return (set & bits) == bits;
}

// ---- errors
// ----------------------------------------------------------------------------------------------------

// A call failed. what() is a sentence that names the value and the remedy.
class error : public std::runtime_error {
 public:
  error(status_code status, const std::string& message, backend_id backend = backend_id::none,
        hypomnesis::domain native_domain = hypomnesis::domain::none, std::int32_t native_code = 0,
        reason_id reason = reason_id::unknown)
      : std::runtime_error(message),
        status_(status),
        backend_(backend),
        reason_(reason),
        native_domain_(native_domain),
        native_code_(native_code) {}

  status_code status() const noexcept { return status_; }
  const char* status_name() const noexcept { return hmn_status_name(number(status_)); }
  // Who failed; none: the library refused.
  backend_id backend() const noexcept { return backend_; }
  // Why the value is missing; unknown also where the call itself was wrong.
  reason_id reason() const noexcept { return reason_; }
  domain native_domain() const noexcept { return native_domain_; }
  std::int32_t native_code() const noexcept { return native_code_; }

 private:
  status_code status_;
  backend_id backend_;
  reason_id reason_;
  domain native_domain_;
  std::int32_t native_code_;
};

// A context or a snapshot was used after it was closed or moved from.
class closed : public std::logic_error {
 public:
  explicit closed(const char* message) : std::logic_error(message) {}
};

// ---- values
// ----------------------------------------------------------------------------------------------------

// clang-format off
// begin generated: records
// hmn_backend_info: status of a backend, for diagnosis and bug reports.
struct backend_info {
  note notes{};
  backend_id backend{};
  run_state state{};
  status_code status{};  // status_code::ok, or why it is not usable
  domain native_domain{};
  std::int32_t native_code = 0;  // as the system, driver or tool returned it
  std::optional<std::string> version;  // version of the driver or tool
  std::string message;  // why it is not usable, and the remedy; "" when it is
};

// hmn_process_memory: host RAM of one process, in bytes.
struct process_memory {
  note notes{};
  backend_id backend{};
  std::uint32_t pid = 0;  // in the proc tree in use
  // RSS: anonymous, file and shared pages (/proc/pid/statm)
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> peak_resident_bytes;  // highest RSS so far (VmHWM)
  std::optional<std::uint64_t> virtual_bytes;  // address space (/proc/pid/statm)
  std::optional<std::uint64_t> swap_bytes;  // anonymous pages swapped out (VmSwap)
  std::optional<std::uint64_t> proportional_bytes;  // PSS (proportional set size; smaps_rollup)
  // USS: pages that no other process maps (smaps_rollup)
  std::optional<std::uint64_t> private_bytes;
  std::optional<std::uint64_t> committed_bytes;  // Windows: PrivateUsage; absent elsewhere
  std::optional<std::uint64_t> footprint_bytes;  // macOS: phys_footprint; absent elsewhere
  // macOS: highest phys_footprint so far; absent elsewhere
  std::optional<std::uint64_t> peak_footprint_bytes;
  // Windows: PeakPagefileUsage; absent elsewhere
  std::optional<std::uint64_t> peak_committed_bytes;
  std::optional<std::uint64_t> process_key;  // as in usage
};

// hmn_system_memory: memory of the host and of this process' container, in bytes.
struct system_memory {
  note notes{};  // note::estimated: the kernel lacks MemAvailable
  backend_id backend{};
  std::optional<pressure_level> pressure;  // macOS, Windows; absent on Linux, which has no level
  std::optional<std::uint64_t> total_bytes;  // RAM managed by the kernel (MemTotal)
  std::optional<std::uint64_t> available_bytes;  // allocatable without swapping (MemAvailable)
  std::optional<std::uint64_t> swap_total_bytes;
  std::optional<std::uint64_t> swap_free_bytes;
  // the lowest memory limit of this process' control groups, or on Windows of its job objects;
  // absent if none applies
  std::optional<std::uint64_t> limit_bytes;
  // memory charged to the group or job with that limit, file cache included
  std::optional<std::uint64_t> limit_used_bytes;
  std::optional<std::uint64_t> commit_limit_bytes;
  std::optional<std::uint64_t> committed_bytes;
  // share of the last 10 s in which at least one task waited for memory (Linux: `some avg10` of
  // /proc/pressure/memory); absent elsewhere
  std::optional<double> stall_percent;
  // memory that can be allocated now: available_bytes, but no more than any limit leaves; that
  // includes cache that can be reclaimed
  std::optional<std::uint64_t> usable_bytes;
};

// hmn_device: identity of a device.
struct device {
  note notes{};
  backend_id backend{};
  std::uint32_t index = 0;  // index in the context: never reused, never renumbered
  hypomnesis::device_class device_class{};
  device_form form{};
  run_state state{};
  vendor_id vendor{};  // a PCI vendor id
  device_memory memory_kind{};
  // the device that this partition belongs to: a MIG instance, an XCP
  std::optional<std::uint32_t> parent_index;
  std::optional<std::uint32_t> driver_index;  // index in the vendor's own tools
  std::optional<std::uint32_t> pci_device;  // PCI device id
  std::optional<std::uint32_t> pci_subsystem;  // subsystem device id << 16 | subsystem vendor id
  std::optional<std::uint32_t> render_minor;  // N of /dev/dri/renderDN
  std::optional<std::uint32_t> numa_node;  // the host's NUMA node that is the device's own memory
  std::optional<std::uint32_t> gpu_instance;  // number of the MIG GPU instance
  std::optional<std::uint32_t> compute_instance;  // number of the MIG compute instance
  // newest CUDA that the driver supports: 12.4 is 12 and 4
  std::optional<std::uint32_t> cuda_version_major;
  std::optional<std::uint32_t> cuda_version_minor;  // of the same version
  std::optional<std::uint32_t> compute_capability_major;  // NVIDIA: 9.0 is 9 and 0
  std::optional<std::uint32_t> compute_capability_minor;  // of the same capability
  std::optional<std::uint64_t> os_id;  // Windows: adapter LUID; macOS: registry id
  // time since its driver listed it; with several drivers, since the earliest list
  std::uint64_t age_ns = 0;
  std::optional<std::string> name;  // as the vendor writes it: "NVIDIA GeForce RTX 4090"
  std::optional<std::string> uuid;  // as the vendor writes it: "GPU-…", "MIG-…"
  // "0000:01:00.0": domain (4 or 8 hex digits), bus, device, function
  std::optional<std::string> pci_bus_id;
  std::optional<std::string> driver_version;  // as the vendor writes it
  std::optional<std::string> architecture;  // as the vendor names it: "Hopper", "gfx942"
};

// hmn_pool: one memory pool of a device, or a part of one, in bytes.
struct pool {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  pool_kind kind{};  // never pool_kind::main
  accounting_kind accounting{};  // what used_bytes counts
  bool is_main = false;  // allocations come from this pool; 0 for each part
  // 0: the whole pool; its parts, such as the memory of each tile, count from 1
  std::uint32_t instance = 0;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> free_bytes;
  // without reserved_bytes if that is known; otherwise including it
  std::optional<std::uint64_t> used_bytes;
  // held by driver and firmware, included in total_bytes: total = reserved + free + used
  std::optional<std::uint64_t> reserved_bytes;
  // best estimate of the memory that can be allocated now: the free memory, but no more than is
  // left of the budget and, if the pool is part of the host's memory, of the host's usable memory;
  // the total while the device sleeps. For a pool with parts, their sum, which one allocation may
  // not get. Absent if stale, and on a device that is divided into partitions
  std::optional<std::uint64_t> usable_bytes;
  std::optional<std::uint64_t> budget_bytes;  // what a policy grants this process
  // used, and owned by no visible process; only in snapshots that collect processes
  std::optional<std::uint64_t> unattributed_bytes;
  std::uint64_t age_ns = 0;  // time since the driver's answer
};

// hmn_telemetry: load, temperature and power of a device.
struct telemetry {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  std::optional<std::uint32_t> core_clock_mhz;
  std::optional<std::uint32_t> memory_clock_mhz;
  std::optional<std::uint32_t> fan_percent;  // share of the fan's highest speed; may exceed 100
  std::optional<std::uint32_t> fan_rpm;
  std::optional<std::uint32_t> pcie_generation;  // current generation of the link
  std::optional<std::uint32_t> pcie_width;  // lanes in use now
  std::optional<std::uint32_t> p_state;  // NVIDIA: 0 is the fastest
  std::optional<throttle_reason> throttle;
  std::uint64_t backends = 0;  // bit n: backend n provided at least one field
  std::optional<double> gpu_busy_percent;  // 0..100: share of time in which something ran
  // 0..100: share of time in which memory was read or written; not how full it is
  std::optional<double> memory_busy_percent;
  std::optional<double> encoder_busy_percent;  // 0..100
  std::optional<double> decoder_busy_percent;  // 0..100
  std::optional<double> temperature_celsius;
  std::optional<double> hotspot_celsius;
  std::optional<double> memory_celsius;
  std::optional<double> power_watts;
  std::optional<double> power_limit_watts;
  std::optional<double> energy_joules;  // counter since the driver was loaded: take differences
  std::optional<std::uint64_t> pcie_rx_bytes;  // counter: take differences
  std::optional<std::uint64_t> pcie_tx_bytes;  // counter: take differences
  std::optional<std::uint64_t> window_ns;  // time over which the percentages are averaged
  std::uint64_t age_ns = 0;  // time since the driver's answer
};

// hmn_metric: one number of a device, with its own source and age. Either value or count is
// present.
struct metric {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  metric_id id{};
  std::uint32_t instance = 0;  // one of several: see the metric
  std::optional<double> value;  // a reading
  std::optional<std::uint64_t> count;  // a counter or a whole number
  std::optional<std::uint64_t> window_ns;  // time over which value is averaged
  std::uint64_t age_ns = 0;  // time since the driver's answer
};

// hmn_usage: memory of one process on one device: values of that process only, never of the device.
struct usage {
  note notes{};  // note::foreign_pid: pid is not of the proc tree in use
  backend_id backend{};
  std::uint32_t pid = 0;  // as the driver lists it: see hmn_usage_read
  std::uint32_t device_index = 0;
  std::optional<usage_kind> kinds;  // usage_kind::compute, usage_kind::graphics, usage_kind::media
  accounting_kind accounting{};  // what used_bytes counts
  name_status name_state{};
  std::optional<std::uint32_t> uid;  // effective user id
  std::optional<std::uint32_t> gpu_instance;  // number of the MIG GPU instance
  std::optional<std::uint32_t> compute_instance;  // number of the MIG compute instance
  // start time, for display: see process_key. For an exited process: start of the driver's
  // accounting
  std::optional<std::uint64_t> start_unix_ns;
  // main value, accounted as in `accounting`; for an integrated device all of its memory, including
  // host_pool_bytes
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> committed_bytes;
  std::optional<std::uint64_t> allocated_bytes;
  // memory that other processes hold as well; it and purgeable_bytes may exceed used_bytes if the
  // driver counts them whether they are resident or not
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::uint64_t> purgeable_bytes;
  std::optional<std::uint64_t> evicted_bytes;  // belongs in device memory, but is not there now
  // host RAM mapped for the device (GTT, WDDM shared)
  std::optional<std::uint64_t> host_pool_bytes;
  std::optional<std::uint64_t> host_resident_bytes;  // RSS: the same in each row of this pid
  std::optional<std::uint64_t> budget_bytes;
  std::optional<std::uint64_t> busy_ns;  // counter: take differences
  std::optional<double> busy_percent;
  std::optional<std::uint64_t> window_ns;  // time over which busy_percent is averaged
  std::uint64_t age_ns = 0;  // time since the driver's answer
  // highest use, as the driver accounts it at each allocation (NVIDIA's accounting mode), never
  // sampled
  std::optional<std::uint64_t> peak_used_bytes;
  // opaque: identifies the process in every context, even if its pid is reused or the clock is set,
  // for all readers in one PID namespace. Absent for a process of another PID namespace, for an
  // exited process, and if the system does not identify its boot (a copied proc tree)
  std::optional<std::uint64_t> process_key;
  std::optional<std::string> process_name;  // in a snapshot: command name
  std::optional<std::string> process_command;  // in a snapshot: command line
  std::optional<std::string> process_container;  // in a snapshot: id of the container
};

// hmn_group: memory of one device that one control group holds (a container, a session or a
// service). No group of a snapshot contains another, so used_bytes can be summed.
struct group {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  std::optional<std::uint64_t> used_bytes;  // VRAM held by the group's processes
  // the lowest limit of the group and of the groups that contain it, which they may share with
  // others; absent: none, or not readable
  std::optional<std::uint64_t> limit_bytes;
  std::uint64_t age_ns = 0;  // time since the kernel was queried
  std::optional<std::string> name;  // in a snapshot: its container, else its path
};

// hmn_snapshot_info: counts, times and notes of a snapshot.
struct snapshot_info {
  // note::partial: a requested value is missing; note::lower_bound: a device, or all values of one,
  // may be missing, so counts and sums over devices are minimums
  note notes{};
  part collect{};  // what was requested
  std::uint32_t device_count = 0;
  std::uint32_t pool_count = 0;
  std::uint32_t usage_count = 0;
  std::uint32_t diagnostic_count = 0;
  // processes that the system did not permit the caller to read, or whose use of a device it did
  // not permit to read
  std::uint32_t unreadable_process_count = 0;
  std::uint32_t metric_count = 0;
  std::uint32_t group_count = 0;
  std::uint64_t unix_time_ns = 0;  // start time, since 1970
  std::uint64_t monotonic_ns = 0;  // start time: hmn_monotonic_ns
  std::uint64_t duration_ns = 0;  // time that the snapshot took
  // generation of the context's last scan: see hmn_device_scan
  std::uint64_t device_generation = 0;
};

// hmn_diagnostic: why a value is missing, and the remedy. The missing value is named as in
// hmn_reason_key, and an absent member means all: without HMN_DIAGNOSTIC_HAS_FIELD and
// HMN_DIAGNOSTIC_HAS_METRIC, the whole subject is missing.
struct diagnostic {
  note notes{};  // note::trace: not a fault, a recorded driver call
  backend_id backend{};
  reason_id reason{};
  // status_code::unsupported: not supported by this device; status_code::no_device: this backend
  // certainly has no device; status_code::ok: a warning, nothing is missing; these three do not set
  // note::partial in a snapshot
  status_code status{};
  domain native_domain{};
  std::int32_t native_code = 0;  // as the system, driver or tool returned it
  part subject{};  // the bit concerned
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;  // the process concerned
  std::optional<pool_kind> pool;
  std::optional<std::uint32_t> pool_instance;  // as in pool
  std::optional<metric_id> metric;
  std::optional<std::uint32_t> metric_instance;  // as in metric
  // presence bits that are missing for this reason, in the subject's struct
  std::optional<std::uint64_t> field;
  std::optional<std::uint64_t> duration_ns;  // duration of a traced call
  std::uint32_t count = 0;  // number of equal diagnostics merged into this one
  std::string message;  // a sentence that names the value and the remedy
};

// hmn_delta: change between two snapshots: after minus before.
struct delta {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  scope_kind scope{};  // whether device_bytes is for this process or for the device
  accounting_kind accounting{};  // how device_bytes is accounted
  std::optional<std::int64_t> memory_bytes;  // the caller's resident set
  // for the caller if both snapshots have that, otherwise for the device
  std::optional<std::int64_t> device_bytes;
  std::uint64_t elapsed_ns = 0;
  std::optional<double> energy_joules;  // energy of the whole device
};

// hmn_sampler_info: state and counters of a sampler.
struct sampler_info {
  note notes{};
  sampler_state state{};  // sampler_state::idle, sampler_state::running, sampler_state::stopped
  std::uint32_t pending = 0;  // snapshots not yet pulled
  std::optional<status_code> last_status;  // status of the last attempt
  std::uint64_t taken_count = 0;  // snapshots taken
  // snapshots of these that were dropped unread because the queue was full
  std::uint64_t dropped_count = 0;
  std::uint64_t late_count = 0;  // scheduled times skipped because a snapshot took too long
  std::uint64_t failed_count = 0;  // attempts without a snapshot
  std::optional<std::uint64_t> last_monotonic_ns;  // start of the last attempt: hmn_monotonic_ns
};

// hmn_peak: highest values in a sampler's snapshots since its start. Each is determined separately,
// so they may be from different times. Peaks between two snapshots are missed.
struct peak {
  note notes{};  // of the reading of used_bytes
  backend_id backend{};  // of the reading of used_bytes
  std::uint32_t device_index = 0;
  std::uint32_t pid = 0;  // 0: the device
  accounting_kind accounting{};  // what used_bytes counts
  std::optional<std::uint64_t> used_bytes;  // for a device: used memory of its main pool
  std::optional<std::uint64_t> host_pool_bytes;  // for a device: used memory of its pool_kind::host
  std::optional<std::uint64_t> host_resident_bytes;  // for a process: RSS
  std::optional<std::uint64_t> used_monotonic_ns;  // start of the first snapshot with used_bytes
};

// hmn_tracker_info: limit and totals of a tracker: allocated_bytes is never above limit_bytes,
// peak_bytes never below allocated_bytes.
struct tracker_info {
  note notes{};
  std::optional<std::uint32_t> device_index;
  std::uint32_t tag_count = 0;  // tags are numbered from 1 to tag_count
  std::optional<std::uint64_t> limit_bytes;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t peak_bytes = 0;  // highest allocated_bytes since the start or the last reset
  std::uint64_t refused_count = 0;  // allocations refused with status_code::limit
};

// hmn_tag: totals of a tag.
struct tag {
  note notes{};
  std::uint32_t number = 0;  // of the tag
  std::uint64_t allocated_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::string name;  // as passed to hmn_tracker_tag
};

// hmn_spill_info: state and totals of a detector.
struct spill_info {
  note notes{};  // of the last observation; note::truncated: first_label or message was cut
  backend_id backend{};  // of the last observation; 0: it was fed
  std::uint32_t device_index = 0;
  spill_state state{};  // spill_state::measurable, spill_state::now, spill_state::ever
  spill_rule rules{};  // of the last observation
  // status_code::ok, or why the last attempt gave no observation; status_code::empty: no attempt
  // was made
  status_code status{};
  std::uint64_t observation_count = 0;
  std::uint64_t skipped_count = 0;  // attempts without an observation, which change nothing else
  std::uint64_t episode_count = 0;  // all episodes; the last one may still be open
  std::uint64_t first_episode = 0;  // lowest number still kept
  std::optional<std::uint64_t> limit_bytes;  // last known
  std::optional<std::uint64_t> dedicated_bytes;
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::uint64_t> evicted_bytes;
  std::optional<std::uint64_t> peak_dedicated_bytes;
  std::optional<std::uint64_t> peak_shared_bytes;
  std::optional<std::uint64_t> peak_evicted_bytes;
  std::optional<std::uint64_t> baseline_shared_bytes;  // of the first observation
  // of the first with that value; 0 if no process existed before
  std::optional<std::uint64_t> baseline_evicted_bytes;
  std::uint64_t total_ns = 0;  // of all episodes, including dropped ones
  std::optional<std::uint64_t> longest_ns;
  std::optional<std::uint64_t> longest_episode;  // its number; the first of equal ones
  std::optional<std::string> first_label;  // of the first episode
  std::string message;  // reason for status, and the remedy; "" on status_code::ok
};

// hmn_episode: consecutive observations that spilled.
struct episode {
  note notes{};  // note::truncated: a label was cut
  spill_rule rules{};  // those that held
  std::uint64_t number = 0;  // counts a detector's episodes from 0
  std::uint64_t observation_count = 0;
  std::uint64_t peak_shared_bytes = 0;
  std::optional<std::uint64_t> peak_evicted_bytes;
  std::uint64_t start_monotonic_ns = 0;  // of its first observation
  std::optional<std::uint64_t> end_monotonic_ns;  // of the first observation after it
  std::uint64_t duration_ns = 0;  // from its first observation to its last
  std::string start_label;  // of its first observation
  std::optional<std::string> end_label;  // of the first observation after it
};
// end generated: records
// clang-format on

// A device of a snapshot with its pools, telemetry, usage and metrics.
struct snapshot_device {
  hypomnesis::device device;
  std::vector<hypomnesis::pool> pools;  // the main one first
  std::optional<hypomnesis::telemetry> telemetry;
  std::optional<usage> own_usage;
  std::vector<metric> metrics;
};

// A whole snapshot as values.
struct snapshot_values {
  snapshot_info info;
  std::optional<process_memory> memory;
  std::optional<system_memory> system;
  std::vector<snapshot_device> devices;
  std::vector<usage> usages;
  std::vector<group> groups;
  std::vector<diagnostic> diagnostics;
};

// ---- from the C structs
// ----------------------------------------------------------------------------------------

namespace detail {

// A C struct that is zero but for its size.
template <class Record>
Record make_record() noexcept {
  Record record{};
  record.struct_size = sizeof record;
  return record;
}

inline error make_error(const hmn_error& e) {
  return error(static_cast<status_code>(e.status), e.message, static_cast<backend_id>(e.backend),
               static_cast<domain>(e.native_domain), e.native_code,
               static_cast<reason_id>(e.reason));
}

// call(&error) returns a status.
template <class Call>
void perform(Call call) {
  hmn_error e = make_record<hmn_error>();
  if (call(&e) != HMN_OK) throw make_error(e);
}

// call(&record, &error) fills a C struct.
template <class Record, class Call>
Record read(Call call) {
  Record record = make_record<Record>();
  perform([&](hmn_error* e) { return call(&record, e); });
  return record;
}

// call(&record, &error) fills a C struct; returns nothing for HMN_E_EMPTY.
template <class Record, class Call>
std::optional<Record> read_if_present(Call call) {
  Record record = make_record<Record>();
  hmn_error failure = make_record<hmn_error>();
  const hmn_status status = call(&record, &failure);
  if (status == HMN_E_EMPTY) return std::nullopt;
  if (status != HMN_OK) throw make_error(failure);
  return record;
}

// call(buffer, capacity, &needed, &error) writes a text; returns nothing where it is not known. A
// text of less than `expected` bytes needs one call.
template <class Call>
std::optional<std::string> read_text(Call call, std::uint32_t expected = 64) {
  std::string out(expected, '\0');
  std::uint32_t needed = 0;
  hmn_error failure = make_record<hmn_error>();
  hmn_status status = HMN_OK;
  for (;;) {
    const auto capacity = static_cast<std::uint32_t>(out.size());
    status = call(&out[0], capacity, &needed, &failure);
    if (status != HMN_E_BUFFER || needed <= capacity) break;
    out.resize(needed);
  }
  if (status == HMN_E_EMPTY) return std::nullopt;
  if (status != HMN_OK) throw make_error(failure);
  out.resize(needed - 1);
  return out;
}

// A text for C, which would ignore everything after a zero byte.
inline std::string make_c_string(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw error(status_code::argument, "a text has a zero byte inside");
  }
  return std::string(text);
}

// The fields of a C struct, each absent where its bit in `present` is clear.
template <class Record>
class fields {
 public:
  explicit fields(const Record& record) noexcept : record_(record) {}

  template <class T>
  std::optional<T> get(hmn_fields bit, T Record::*member) const {
    return has(bit) ? std::optional<T>(record_.*member) : std::nullopt;
  }
  template <class Enum, class T>
  std::optional<Enum> named(hmn_fields bit, T Record::*member) const {
    return has(bit) ? std::optional<Enum>(static_cast<Enum>(record_.*member)) : std::nullopt;
  }
  template <std::size_t N>
  std::optional<std::string> get(hmn_fields bit, char (Record::*member)[N]) const {
    return has(bit) ? std::optional<std::string>(record_.*member) : std::nullopt;
  }

 private:
  bool has(hmn_fields bit) const noexcept { return (record_.present & bit) != 0; }
  const Record& record_;
};

// clang-format off
// begin generated: copies
inline backend_info value(const hmn_backend_info& r) {
  const fields<hmn_backend_info> f(r);
  backend_info v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.state = static_cast<run_state>(r.state);
  v.status = static_cast<status_code>(r.status);
  v.native_domain = static_cast<domain>(r.native_domain);
  v.native_code = r.native_code;
  v.version = f.get(HMN_BACKEND_INFO_HAS_VERSION, &hmn_backend_info::version);
  v.message = r.message;
  return v;
}

inline process_memory value(const hmn_process_memory& r) {
  const fields<hmn_process_memory> f(r);
  process_memory v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.pid = r.pid;
  v.resident_bytes = f.get(HMN_PROCESS_MEMORY_HAS_RESIDENT, &hmn_process_memory::resident_bytes);
  v.peak_resident_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT, &hmn_process_memory::peak_resident_bytes);
  v.virtual_bytes = f.get(HMN_PROCESS_MEMORY_HAS_VIRTUAL, &hmn_process_memory::virtual_bytes);
  v.swap_bytes = f.get(HMN_PROCESS_MEMORY_HAS_SWAP, &hmn_process_memory::swap_bytes);
  v.proportional_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PROPORTIONAL, &hmn_process_memory::proportional_bytes);
  v.private_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PRIVATE, &hmn_process_memory::private_bytes);
  v.committed_bytes = f.get(HMN_PROCESS_MEMORY_HAS_COMMITTED, &hmn_process_memory::committed_bytes);
  v.footprint_bytes = f.get(HMN_PROCESS_MEMORY_HAS_FOOTPRINT, &hmn_process_memory::footprint_bytes);
  v.peak_footprint_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT, &hmn_process_memory::peak_footprint_bytes);
  v.peak_committed_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED, &hmn_process_memory::peak_committed_bytes);
  v.process_key = f.get(HMN_PROCESS_MEMORY_HAS_PROCESS_KEY, &hmn_process_memory::process_key);
  return v;
}

inline system_memory value(const hmn_system_memory& r) {
  const fields<hmn_system_memory> f(r);
  system_memory v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.pressure = f.named<pressure_level>(HMN_SYSTEM_MEMORY_HAS_PRESSURE, &hmn_system_memory::pressure);
  v.total_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_TOTAL, &hmn_system_memory::total_bytes);
  v.available_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_AVAILABLE, &hmn_system_memory::available_bytes);
  v.swap_total_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL, &hmn_system_memory::swap_total_bytes);
  v.swap_free_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_SWAP_FREE, &hmn_system_memory::swap_free_bytes);
  v.limit_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_LIMIT, &hmn_system_memory::limit_bytes);
  v.limit_used_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_LIMIT_USED, &hmn_system_memory::limit_used_bytes);
  v.commit_limit_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT, &hmn_system_memory::commit_limit_bytes);
  v.committed_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_COMMITTED, &hmn_system_memory::committed_bytes);
  v.stall_percent = f.get(HMN_SYSTEM_MEMORY_HAS_STALL, &hmn_system_memory::stall_percent);
  v.usable_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_USABLE, &hmn_system_memory::usable_bytes);
  return v;
}

inline device value(const hmn_device& r) {
  const fields<hmn_device> f(r);
  device v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.index = r.index;
  v.device_class = static_cast<device_class>(r.device_class);
  v.form = static_cast<device_form>(r.form);
  v.state = static_cast<run_state>(r.state);
  v.vendor = static_cast<vendor_id>(r.vendor);
  v.memory_kind = static_cast<device_memory>(r.memory_kind);
  v.parent_index = f.get(HMN_DEVICE_HAS_PARENT, &hmn_device::parent_index);
  v.driver_index = f.get(HMN_DEVICE_HAS_DRIVER_INDEX, &hmn_device::driver_index);
  v.pci_device = f.get(HMN_DEVICE_HAS_PCI_DEVICE, &hmn_device::pci_device);
  v.pci_subsystem = f.get(HMN_DEVICE_HAS_PCI_SUBSYSTEM, &hmn_device::pci_subsystem);
  v.render_minor = f.get(HMN_DEVICE_HAS_RENDER_MINOR, &hmn_device::render_minor);
  v.numa_node = f.get(HMN_DEVICE_HAS_NUMA_NODE, &hmn_device::numa_node);
  v.gpu_instance = f.get(HMN_DEVICE_HAS_INSTANCE, &hmn_device::gpu_instance);
  v.compute_instance = f.get(HMN_DEVICE_HAS_INSTANCE, &hmn_device::compute_instance);
  v.cuda_version_major = f.get(HMN_DEVICE_HAS_CUDA_VERSION, &hmn_device::cuda_version_major);
  v.cuda_version_minor = f.get(HMN_DEVICE_HAS_CUDA_VERSION, &hmn_device::cuda_version_minor);
  v.compute_capability_major = f.get(HMN_DEVICE_HAS_COMPUTE_CAPABILITY, &hmn_device::compute_capability_major);
  v.compute_capability_minor = f.get(HMN_DEVICE_HAS_COMPUTE_CAPABILITY, &hmn_device::compute_capability_minor);
  v.os_id = f.get(HMN_DEVICE_HAS_OS_ID, &hmn_device::os_id);
  v.age_ns = r.age_ns;
  v.name = f.get(HMN_DEVICE_HAS_NAME, &hmn_device::name);
  v.uuid = f.get(HMN_DEVICE_HAS_UUID, &hmn_device::uuid);
  v.pci_bus_id = f.get(HMN_DEVICE_HAS_PCI, &hmn_device::pci_bus_id);
  v.driver_version = f.get(HMN_DEVICE_HAS_DRIVER, &hmn_device::driver_version);
  v.architecture = f.get(HMN_DEVICE_HAS_ARCHITECTURE, &hmn_device::architecture);
  return v;
}

inline pool value(const hmn_pool& r) {
  const fields<hmn_pool> f(r);
  pool v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.kind = static_cast<pool_kind>(r.kind);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.is_main = r.is_main != 0;
  v.instance = r.instance;
  v.total_bytes = f.get(HMN_POOL_HAS_TOTAL, &hmn_pool::total_bytes);
  v.free_bytes = f.get(HMN_POOL_HAS_FREE, &hmn_pool::free_bytes);
  v.used_bytes = f.get(HMN_POOL_HAS_USED, &hmn_pool::used_bytes);
  v.reserved_bytes = f.get(HMN_POOL_HAS_RESERVED, &hmn_pool::reserved_bytes);
  v.usable_bytes = f.get(HMN_POOL_HAS_USABLE, &hmn_pool::usable_bytes);
  v.budget_bytes = f.get(HMN_POOL_HAS_BUDGET, &hmn_pool::budget_bytes);
  v.unattributed_bytes = f.get(HMN_POOL_HAS_UNATTRIBUTED, &hmn_pool::unattributed_bytes);
  v.age_ns = r.age_ns;
  return v;
}

inline telemetry value(const hmn_telemetry& r) {
  const fields<hmn_telemetry> f(r);
  telemetry v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.core_clock_mhz = f.get(HMN_TELEMETRY_HAS_CORE_CLOCK, &hmn_telemetry::core_clock_mhz);
  v.memory_clock_mhz = f.get(HMN_TELEMETRY_HAS_MEMORY_CLOCK, &hmn_telemetry::memory_clock_mhz);
  v.fan_percent = f.get(HMN_TELEMETRY_HAS_FAN_PERCENT, &hmn_telemetry::fan_percent);
  v.fan_rpm = f.get(HMN_TELEMETRY_HAS_FAN_RPM, &hmn_telemetry::fan_rpm);
  v.pcie_generation = f.get(HMN_TELEMETRY_HAS_PCIE_GENERATION, &hmn_telemetry::pcie_generation);
  v.pcie_width = f.get(HMN_TELEMETRY_HAS_PCIE_WIDTH, &hmn_telemetry::pcie_width);
  v.p_state = f.get(HMN_TELEMETRY_HAS_P_STATE, &hmn_telemetry::p_state);
  v.throttle = f.named<throttle_reason>(HMN_TELEMETRY_HAS_THROTTLE, &hmn_telemetry::throttle);
  v.backends = r.backends;
  v.gpu_busy_percent = f.get(HMN_TELEMETRY_HAS_GPU_BUSY, &hmn_telemetry::gpu_busy_percent);
  v.memory_busy_percent = f.get(HMN_TELEMETRY_HAS_MEMORY_BUSY, &hmn_telemetry::memory_busy_percent);
  v.encoder_busy_percent = f.get(HMN_TELEMETRY_HAS_ENCODER_BUSY, &hmn_telemetry::encoder_busy_percent);
  v.decoder_busy_percent = f.get(HMN_TELEMETRY_HAS_DECODER_BUSY, &hmn_telemetry::decoder_busy_percent);
  v.temperature_celsius = f.get(HMN_TELEMETRY_HAS_TEMPERATURE, &hmn_telemetry::temperature_celsius);
  v.hotspot_celsius = f.get(HMN_TELEMETRY_HAS_HOTSPOT, &hmn_telemetry::hotspot_celsius);
  v.memory_celsius = f.get(HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, &hmn_telemetry::memory_celsius);
  v.power_watts = f.get(HMN_TELEMETRY_HAS_POWER, &hmn_telemetry::power_watts);
  v.power_limit_watts = f.get(HMN_TELEMETRY_HAS_POWER_LIMIT, &hmn_telemetry::power_limit_watts);
  v.energy_joules = f.get(HMN_TELEMETRY_HAS_ENERGY, &hmn_telemetry::energy_joules);
  v.pcie_rx_bytes = f.get(HMN_TELEMETRY_HAS_PCIE_RX, &hmn_telemetry::pcie_rx_bytes);
  v.pcie_tx_bytes = f.get(HMN_TELEMETRY_HAS_PCIE_TX, &hmn_telemetry::pcie_tx_bytes);
  v.window_ns = f.get(HMN_TELEMETRY_HAS_WINDOW, &hmn_telemetry::window_ns);
  v.age_ns = r.age_ns;
  return v;
}

inline metric value(const hmn_metric& r) {
  const fields<hmn_metric> f(r);
  metric v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.id = static_cast<metric_id>(r.id);
  v.instance = r.instance;
  v.value = f.get(HMN_METRIC_HAS_VALUE, &hmn_metric::value);
  v.count = f.get(HMN_METRIC_HAS_COUNT, &hmn_metric::count);
  v.window_ns = f.get(HMN_METRIC_HAS_WINDOW, &hmn_metric::window_ns);
  v.age_ns = r.age_ns;
  return v;
}

inline usage value(const hmn_usage& r) {
  const fields<hmn_usage> f(r);
  usage v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.pid = r.pid;
  v.device_index = r.device_index;
  v.kinds = f.named<usage_kind>(HMN_USAGE_HAS_KINDS, &hmn_usage::kinds);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.name_state = static_cast<name_status>(r.name_state);
  v.uid = f.get(HMN_USAGE_HAS_UID, &hmn_usage::uid);
  v.gpu_instance = f.get(HMN_USAGE_HAS_INSTANCE, &hmn_usage::gpu_instance);
  v.compute_instance = f.get(HMN_USAGE_HAS_INSTANCE, &hmn_usage::compute_instance);
  v.start_unix_ns = f.get(HMN_USAGE_HAS_START_TIME, &hmn_usage::start_unix_ns);
  v.used_bytes = f.get(HMN_USAGE_HAS_USED, &hmn_usage::used_bytes);
  v.resident_bytes = f.get(HMN_USAGE_HAS_RESIDENT, &hmn_usage::resident_bytes);
  v.committed_bytes = f.get(HMN_USAGE_HAS_COMMITTED, &hmn_usage::committed_bytes);
  v.allocated_bytes = f.get(HMN_USAGE_HAS_ALLOCATED, &hmn_usage::allocated_bytes);
  v.shared_bytes = f.get(HMN_USAGE_HAS_SHARED, &hmn_usage::shared_bytes);
  v.purgeable_bytes = f.get(HMN_USAGE_HAS_PURGEABLE, &hmn_usage::purgeable_bytes);
  v.evicted_bytes = f.get(HMN_USAGE_HAS_EVICTED, &hmn_usage::evicted_bytes);
  v.host_pool_bytes = f.get(HMN_USAGE_HAS_HOST_POOL, &hmn_usage::host_pool_bytes);
  v.host_resident_bytes = f.get(HMN_USAGE_HAS_HOST_RESIDENT, &hmn_usage::host_resident_bytes);
  v.budget_bytes = f.get(HMN_USAGE_HAS_BUDGET, &hmn_usage::budget_bytes);
  v.busy_ns = f.get(HMN_USAGE_HAS_BUSY_NS, &hmn_usage::busy_ns);
  v.busy_percent = f.get(HMN_USAGE_HAS_BUSY_PERCENT, &hmn_usage::busy_percent);
  v.window_ns = f.get(HMN_USAGE_HAS_BUSY_PERCENT, &hmn_usage::window_ns);
  v.age_ns = r.age_ns;
  v.peak_used_bytes = f.get(HMN_USAGE_HAS_PEAK_USED, &hmn_usage::peak_used_bytes);
  v.process_key = f.get(HMN_USAGE_HAS_PROCESS_KEY, &hmn_usage::process_key);
  return v;
}

inline group value(const hmn_group& r) {
  const fields<hmn_group> f(r);
  group v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.used_bytes = f.get(HMN_GROUP_HAS_USED, &hmn_group::used_bytes);
  v.limit_bytes = f.get(HMN_GROUP_HAS_LIMIT, &hmn_group::limit_bytes);
  v.age_ns = r.age_ns;
  return v;
}

inline snapshot_info value(const hmn_snapshot_info& r) {
  snapshot_info v;
  v.notes = static_cast<note>(r.notes);
  v.collect = static_cast<part>(r.collect);
  v.device_count = r.device_count;
  v.pool_count = r.pool_count;
  v.usage_count = r.usage_count;
  v.diagnostic_count = r.diagnostic_count;
  v.unreadable_process_count = r.unreadable_process_count;
  v.metric_count = r.metric_count;
  v.group_count = r.group_count;
  v.unix_time_ns = r.unix_time_ns;
  v.monotonic_ns = r.monotonic_ns;
  v.duration_ns = r.duration_ns;
  v.device_generation = r.device_generation;
  return v;
}

inline diagnostic value(const hmn_diagnostic& r) {
  const fields<hmn_diagnostic> f(r);
  diagnostic v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.reason = static_cast<reason_id>(r.reason);
  v.status = static_cast<status_code>(r.status);
  v.native_domain = static_cast<domain>(r.native_domain);
  v.native_code = r.native_code;
  v.subject = static_cast<part>(r.subject);
  v.device_index = f.get(HMN_DIAGNOSTIC_HAS_DEVICE, &hmn_diagnostic::device_index);
  v.pid = f.get(HMN_DIAGNOSTIC_HAS_PID, &hmn_diagnostic::pid);
  v.pool = f.named<pool_kind>(HMN_DIAGNOSTIC_HAS_POOL, &hmn_diagnostic::pool);
  v.pool_instance = f.get(HMN_DIAGNOSTIC_HAS_POOL, &hmn_diagnostic::pool_instance);
  v.metric = f.named<metric_id>(HMN_DIAGNOSTIC_HAS_METRIC, &hmn_diagnostic::metric);
  v.metric_instance = f.get(HMN_DIAGNOSTIC_HAS_METRIC_INSTANCE, &hmn_diagnostic::metric_instance);
  v.field = f.get(HMN_DIAGNOSTIC_HAS_FIELD, &hmn_diagnostic::field);
  v.duration_ns = f.get(HMN_DIAGNOSTIC_HAS_DURATION, &hmn_diagnostic::duration_ns);
  v.count = r.count;
  v.message = r.message;
  return v;
}

inline delta value(const hmn_delta& r) {
  const fields<hmn_delta> f(r);
  delta v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.scope = static_cast<scope_kind>(r.scope);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.memory_bytes = f.get(HMN_DELTA_HAS_MEMORY, &hmn_delta::memory_bytes);
  v.device_bytes = f.get(HMN_DELTA_HAS_DEVICE, &hmn_delta::device_bytes);
  v.elapsed_ns = r.elapsed_ns;
  v.energy_joules = f.get(HMN_DELTA_HAS_ENERGY, &hmn_delta::energy_joules);
  return v;
}

inline sampler_info value(const hmn_sampler_info& r) {
  const fields<hmn_sampler_info> f(r);
  sampler_info v;
  v.notes = static_cast<note>(r.notes);
  v.state = static_cast<sampler_state>(r.state);
  v.pending = r.pending;
  v.last_status = f.named<status_code>(HMN_SAMPLER_INFO_HAS_LAST, &hmn_sampler_info::last_status);
  v.taken_count = r.taken_count;
  v.dropped_count = r.dropped_count;
  v.late_count = r.late_count;
  v.failed_count = r.failed_count;
  v.last_monotonic_ns = f.get(HMN_SAMPLER_INFO_HAS_LAST, &hmn_sampler_info::last_monotonic_ns);
  return v;
}

inline peak value(const hmn_peak& r) {
  const fields<hmn_peak> f(r);
  peak v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.pid = r.pid;
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.used_bytes = f.get(HMN_PEAK_HAS_USED, &hmn_peak::used_bytes);
  v.host_pool_bytes = f.get(HMN_PEAK_HAS_HOST_POOL, &hmn_peak::host_pool_bytes);
  v.host_resident_bytes = f.get(HMN_PEAK_HAS_HOST_RESIDENT, &hmn_peak::host_resident_bytes);
  v.used_monotonic_ns = f.get(HMN_PEAK_HAS_USED, &hmn_peak::used_monotonic_ns);
  return v;
}

inline tracker_info value(const hmn_tracker_info& r) {
  const fields<hmn_tracker_info> f(r);
  tracker_info v;
  v.notes = static_cast<note>(r.notes);
  v.device_index = f.get(HMN_TRACKER_INFO_HAS_DEVICE, &hmn_tracker_info::device_index);
  v.tag_count = r.tag_count;
  v.limit_bytes = f.get(HMN_TRACKER_INFO_HAS_LIMIT, &hmn_tracker_info::limit_bytes);
  v.allocated_bytes = r.allocated_bytes;
  v.peak_bytes = r.peak_bytes;
  v.refused_count = r.refused_count;
  return v;
}

inline tag value(const hmn_tag& r) {
  tag v;
  v.notes = static_cast<note>(r.notes);
  v.number = r.number;
  v.allocated_bytes = r.allocated_bytes;
  v.peak_bytes = r.peak_bytes;
  v.name = r.name;
  return v;
}

inline spill_info value(const hmn_spill_info& r) {
  const fields<hmn_spill_info> f(r);
  spill_info v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.state = static_cast<spill_state>(r.state);
  v.rules = static_cast<spill_rule>(r.rules);
  v.status = static_cast<status_code>(r.status);
  v.observation_count = r.observation_count;
  v.skipped_count = r.skipped_count;
  v.episode_count = r.episode_count;
  v.first_episode = r.first_episode;
  v.limit_bytes = f.get(HMN_SPILL_INFO_HAS_LIMIT, &hmn_spill_info::limit_bytes);
  v.dedicated_bytes = f.get(HMN_SPILL_INFO_HAS_OBSERVED, &hmn_spill_info::dedicated_bytes);
  v.shared_bytes = f.get(HMN_SPILL_INFO_HAS_OBSERVED, &hmn_spill_info::shared_bytes);
  v.evicted_bytes = f.get(HMN_SPILL_INFO_HAS_EVICTED, &hmn_spill_info::evicted_bytes);
  v.peak_dedicated_bytes = f.get(HMN_SPILL_INFO_HAS_OBSERVED, &hmn_spill_info::peak_dedicated_bytes);
  v.peak_shared_bytes = f.get(HMN_SPILL_INFO_HAS_OBSERVED, &hmn_spill_info::peak_shared_bytes);
  v.peak_evicted_bytes = f.get(HMN_SPILL_INFO_HAS_PEAK_EVICTED, &hmn_spill_info::peak_evicted_bytes);
  v.baseline_shared_bytes = f.get(HMN_SPILL_INFO_HAS_OBSERVED, &hmn_spill_info::baseline_shared_bytes);
  v.baseline_evicted_bytes = f.get(HMN_SPILL_INFO_HAS_PEAK_EVICTED, &hmn_spill_info::baseline_evicted_bytes);
  v.total_ns = r.total_ns;
  v.longest_ns = f.get(HMN_SPILL_INFO_HAS_EPISODE, &hmn_spill_info::longest_ns);
  v.longest_episode = f.get(HMN_SPILL_INFO_HAS_EPISODE, &hmn_spill_info::longest_episode);
  v.first_label = f.get(HMN_SPILL_INFO_HAS_EPISODE, &hmn_spill_info::first_label);
  v.message = r.message;
  return v;
}

inline episode value(const hmn_episode& r) {
  const fields<hmn_episode> f(r);
  episode v;
  v.notes = static_cast<note>(r.notes);
  v.rules = static_cast<spill_rule>(r.rules);
  v.number = r.number;
  v.observation_count = r.observation_count;
  v.peak_shared_bytes = r.peak_shared_bytes;
  v.peak_evicted_bytes = f.get(HMN_EPISODE_HAS_PEAK_EVICTED, &hmn_episode::peak_evicted_bytes);
  v.start_monotonic_ns = r.start_monotonic_ns;
  v.end_monotonic_ns = f.get(HMN_EPISODE_HAS_END, &hmn_episode::end_monotonic_ns);
  v.duration_ns = r.duration_ns;
  v.start_label = r.start_label;
  v.end_label = f.get(HMN_EPISODE_HAS_END, &hmn_episode::end_label);
  return v;
}

// text(which) gives a text of a usage in a snapshot.
template <class Text>
void add_texts(usage& v, Text text) {
  v.process_name = text(HMN_TEXT_PROCESS_NAME);
  v.process_command = text(HMN_TEXT_PROCESS_COMMAND);
  v.process_container = text(HMN_TEXT_PROCESS_CONTAINER);
}

// text(which) gives a text of a group in a snapshot.
template <class Text>
void add_texts(group& v, Text text) {
  v.name = text(HMN_TEXT_GROUP_NAME);
}
// end generated: copies
// clang-format on

template <class Record>
auto value(const std::optional<Record>& record) {
  using Value = decltype(value(*record));
  return record ? std::optional<Value>(value(*record)) : std::nullopt;
}

// Shares a handle between an object and the calls in progress, so that it is not destroyed during a
// call. No lock: a forked child could inherit one that another thread held.
template <class Handle>
class holder {
 public:
  holder(Handle* handle, void (*destroy)(Handle*)) : owner_(handle, destroy), observer_(owner_) {}
  holder(holder&& other) noexcept { *this = std::move(other); }
  holder& operator=(holder&& other) noexcept {
    const bool open = other.open_.exchange(false);
    owner_ = std::move(other.owner_);
    observer_ = owner_;
    open_ = open;
    return *this;
  }
  ~holder() = default;

  std::shared_ptr<Handle> get(const char* message) const {
    std::shared_ptr<Handle> handle = open_ ? observer_.lock() : nullptr;
    if (!handle) throw closed(message);
    return handle;
  }
  // Leaves the holder empty. Only the thread that closes it touches owner_.
  std::shared_ptr<Handle> release() noexcept {
    return open_.exchange(false) ? std::move(owner_) : nullptr;
  }
  bool is_open() const noexcept { return open_; }

 private:
  std::shared_ptr<Handle> owner_;
  std::weak_ptr<Handle> observer_;
  std::atomic<bool> open_{true};
};

inline std::uint64_t nanoseconds(const char* name, std::chrono::nanoseconds duration) {
  if (duration == std::chrono::nanoseconds::max()) return HMN_NS_UNLIMITED;
  if (duration.count() < 0) {
    throw error(status_code::range,
                std::string(name) + ": " + std::to_string(duration.count()) + " ns is less than 0");
  }
  return static_cast<std::uint64_t>(duration.count());
}

}  // namespace detail

// ---- the library
// -----------------------------------------------------------------------------------------------

// Durations with a meaning of their own: no limit, and, as an option, no time at all.
inline constexpr std::chrono::nanoseconds unlimited = std::chrono::nanoseconds::max();
inline constexpr std::chrono::nanoseconds immediate{HMN_NS_IMMEDIATE};

// The time of the clock behind every monotonic_ns.
inline std::uint64_t monotonic_ns() noexcept {
  return hmn_monotonic_ns();
}

// The library's version: major * 1000000 + minor * 1000 + patch.
inline std::uint32_t version_number() noexcept {
  return hmn_version_number();
}
// The same as text, for instance "0.1.0".
inline std::string_view version_string() noexcept {
  return hmn_version_string();
}
inline bool has_feature(feature_id feature) noexcept {
  return hmn_feature(number(feature)) != 0;
}
// Whether a backend is compiled in.
inline bool has_backend(backend_id backend) noexcept {
  return hmn_backend_available(number(backend)) != 0;
}
// For instance "HMN_E_RANGE"; "HMN_E_?" for a number that the library does not know.
inline std::string_view name(status_code status) noexcept {
  return hmn_status_name(number(status));
}
// For instance "not_permitted"; "unknown" for a number that the library does not know.
inline std::string_view name(reason_id reason) noexcept {
  return hmn_reason_name(number(reason));
}
// For instance "nvml"; "unknown" for a number that the library does not know.
inline std::string_view name(backend_id backend) noexcept {
  return hmn_backend_name(number(backend));
}
// For instance "temperature"; "unknown" for a number that the library does not know.
inline std::string_view name(metric_id metric) noexcept {
  return hmn_metric_name(number(metric));
}
// What a metric is counted in, for instance "W"; empty for a plain number.
inline std::string_view unit(metric_id metric) noexcept {
  return hmn_metric_unit(number(metric));
}
// What a metric's number does: whether to show it as it is, or to take differences.
inline number_kind_id kind(metric_id metric) noexcept {
  return static_cast<number_kind_id>(hmn_metric_kind(number(metric)));
}
// The metrics that the library knows.
inline std::vector<metric_id> metrics() {
  std::vector<metric_id> all;
  for (std::uint32_t id = hmn_metric_next(0); id != 0; id = hmn_metric_next(id)) {
    all.push_back(static_cast<metric_id>(id));
  }
  return all;
}
// For instance "hotspot"; empty for the whole device, and for fans and links.
inline std::string_view instance_name(metric_id metric, std::uint32_t instance) noexcept {
  return hmn_metric_instance_name(number(metric), instance);
}
// For instance "bf16"; "unknown" for a number that the library does not know.
inline std::string_view name(dtype_id dtype) noexcept {
  return hmn_dtype_name(number(dtype));
}
namespace detail {
inline void append_name(std::string& text, bool is_set, const char* name) {
  if (!is_set) return;
  if (!text.empty()) text += '|';
  text += name;
}
}  // namespace detail

// The names of all other enumerations, for instance "nvidia"; "unknown" for a number that has none.
// Of a set of bits, the names of those that are set: "stale|partial".
// clang-format off
// begin generated: names
inline std::string name(note value) {
  std::string text;
  detail::append_name(text, has(value, note::stale), "stale");
  detail::append_name(text, has(value, note::lower_bound), "lower_bound");
  detail::append_name(text, has(value, note::estimated), "estimated");
  detail::append_name(text, has(value, note::truncated), "truncated");
  detail::append_name(text, has(value, note::mixed), "mixed");
  detail::append_name(text, has(value, note::foreign_pid), "foreign_pid");
  detail::append_name(text, has(value, note::partial), "partial");
  detail::append_name(text, has(value, note::trace), "trace");
  detail::append_name(text, has(value, note::divided), "divided");
  return text;
}
inline std::string_view name(scope_kind value) {
  switch (value) {
    case scope_kind::none: return "none";
    case scope_kind::process: return "process";
    case scope_kind::device: return "device";
    default: return "unknown";
  }
}
inline std::string_view name(accounting_kind value) {
  switch (value) {
    case accounting_kind::none: return "none";
    case accounting_kind::resident: return "resident";
    case accounting_kind::committed: return "committed";
    case accounting_kind::allocated: return "allocated";
    default: return "unknown";
  }
}
inline std::string_view name(domain value) {
  switch (value) {
    case domain::none: return "none";
    case domain::errno_code: return "errno";
    case domain::win32: return "win32";
    case domain::hresult: return "hresult";
    case domain::ntstatus: return "ntstatus";
    case domain::pdh: return "pdh";
    case domain::kern: return "kern";
    case domain::nvml: return "nvml";
    case domain::exit_code: return "exit";
    default: return "unknown";
  }
}
inline std::string_view name(vendor_id value) {
  switch (value) {
    case vendor_id::unknown: return "unknown";
    case vendor_id::amd: return "amd";
    case vendor_id::apple: return "apple";
    case vendor_id::nvidia: return "nvidia";
    case vendor_id::qualcomm: return "qualcomm";
    case vendor_id::intel: return "intel";
    default: return "unknown";
  }
}
inline std::string_view name(feature_id value) {
  switch (value) {
    case feature_id::subprocess: return "subprocess";
    case feature_id::simulation: return "simulation";
    default: return "unknown";
  }
}
inline std::string name(context_flag value) {
  std::string text;
  detail::append_name(text, has(value, context_flag::no_subprocess), "no_subprocess");
  detail::append_name(text, has(value, context_flag::wake_devices), "wake_devices");
  detail::append_name(text, has(value, context_flag::no_threads), "no_threads");
  detail::append_name(text, has(value, context_flag::environment), "environment");
  detail::append_name(text, has(value, context_flag::trace), "trace");
  detail::append_name(text, has(value, context_flag::record), "record");
  return text;
}
inline std::string_view name(path_kind value) {
  switch (value) {
    case path_kind::proc: return "proc";
    case path_kind::sys: return "sys";
    case path_kind::nvml: return "nvml";
    case path_kind::nvidia_smi: return "nvidia_smi";
    case path_kind::rocm_smi: return "rocm_smi";
    case path_kind::macmon: return "macmon";
    case path_kind::simulation: return "simulation";
    case path_kind::cgroup: return "cgroup";
    case path_kind::amd_smi: return "amd_smi";
    case path_kind::dev: return "dev";
    default: return "unknown";
  }
}
inline std::string_view name(run_state value) {
  switch (value) {
    case run_state::unknown: return "unknown";
    case run_state::ready: return "ready";
    case run_state::asleep: return "asleep";
    case run_state::lost: return "lost";
    case run_state::unreadable: return "unreadable";
    case run_state::hung: return "hung";
    case run_state::absent: return "absent";
    case run_state::off: return "off";
    default: return "unknown";
  }
}
inline std::string_view name(pressure_level value) {
  switch (value) {
    case pressure_level::unknown: return "unknown";
    case pressure_level::normal: return "normal";
    case pressure_level::warning: return "warning";
    case pressure_level::critical: return "critical";
    default: return "unknown";
  }
}
inline std::string_view name(device_class value) {
  switch (value) {
    case device_class::unknown: return "unknown";
    case device_class::gpu: return "gpu";
    case device_class::npu: return "npu";
    default: return "unknown";
  }
}
inline std::string_view name(device_form value) {
  switch (value) {
    case device_form::unknown: return "unknown";
    case device_form::discrete: return "discrete";
    case device_form::integrated: return "integrated";
    case device_form::virtual_device: return "virtual";
    default: return "unknown";
  }
}
inline std::string_view name(device_memory value) {
  switch (value) {
    case device_memory::unknown: return "unknown";
    case device_memory::dedicated: return "dedicated";
    case device_memory::unified: return "unified";
    case device_memory::coherent: return "coherent";
    default: return "unknown";
  }
}
inline std::string_view name(pool_kind value) {
  switch (value) {
    case pool_kind::main: return "main";
    case pool_kind::vram: return "vram";
    case pool_kind::vram_visible: return "vram_visible";
    case pool_kind::host: return "host";
    case pool_kind::unified: return "unified";
    case pool_kind::stolen: return "stolen";
    default: return "unknown";
  }
}
inline std::string name(throttle_reason value) {
  std::string text;
  detail::append_name(text, has(value, throttle_reason::idle), "idle");
  detail::append_name(text, has(value, throttle_reason::power), "power");
  detail::append_name(text, has(value, throttle_reason::thermal), "thermal");
  detail::append_name(text, has(value, throttle_reason::hardware), "hardware");
  detail::append_name(text, has(value, throttle_reason::setting), "setting");
  detail::append_name(text, has(value, throttle_reason::other), "other");
  return text;
}
inline std::string_view name(engine_id value) {
  switch (value) {
    case engine_id::unknown: return "unknown";
    case engine_id::graphics: return "graphics";
    case engine_id::compute: return "compute";
    case engine_id::copy: return "copy";
    case engine_id::decode: return "decode";
    case engine_id::encode: return "encode";
    case engine_id::video: return "video";
    case engine_id::other: return "other";
    case engine_id::memory: return "memory";
    default: return "unknown";
  }
}
inline std::string_view name(sensor_id value) {
  switch (value) {
    case sensor_id::unknown: return "unknown";
    case sensor_id::core: return "core";
    case sensor_id::hotspot: return "hotspot";
    case sensor_id::memory: return "memory";
    case sensor_id::package: return "package";
    case sensor_id::board: return "board";
    case sensor_id::regulator: return "regulator";
    default: return "unknown";
  }
}
inline std::string_view name(power_id value) {
  switch (value) {
    case power_id::unknown: return "unknown";
    case power_id::average: return "average";
    case power_id::instant: return "instant";
    case power_id::package: return "package";
    case power_id::memory: return "memory";
    case power_id::board: return "board";
    default: return "unknown";
  }
}
inline std::string_view name(power_limit_id value) {
  switch (value) {
    case power_limit_id::unknown: return "unknown";
    case power_limit_id::current: return "current";
    case power_limit_id::usual: return "default";
    case power_limit_id::lowest: return "min";
    case power_limit_id::highest: return "max";
    default: return "unknown";
  }
}
inline std::string_view name(clock_id value) {
  switch (value) {
    case clock_id::unknown: return "unknown";
    case clock_id::core: return "core";
    case clock_id::memory: return "memory";
    case clock_id::sm: return "sm";
    case clock_id::video: return "video";
    case clock_id::media: return "media";
    case clock_id::soc: return "soc";
    case clock_id::fabric: return "fabric";
    case clock_id::requested: return "requested";
    default: return "unknown";
  }
}
inline std::string_view name(rail_id value) {
  switch (value) {
    case rail_id::unknown: return "unknown";
    case rail_id::core: return "core";
    case rail_id::soc: return "soc";
    case rail_id::memory: return "memory";
    case rail_id::board: return "board";
    default: return "unknown";
  }
}
inline std::string_view name(era_id value) {
  switch (value) {
    case era_id::unknown: return "unknown";
    case era_id::since_load: return "since_load";
    case era_id::lifetime: return "lifetime";
    default: return "unknown";
  }
}
inline std::string_view name(remapped_id value) {
  switch (value) {
    case remapped_id::unknown: return "unknown";
    case remapped_id::corrected: return "corrected";
    case remapped_id::uncorrected: return "uncorrected";
    case remapped_id::pending: return "pending";
    case remapped_id::failed: return "failed";
    default: return "unknown";
  }
}
inline std::string_view name(number_kind_id value) {
  switch (value) {
    case number_kind_id::unknown: return "unknown";
    case number_kind_id::gauge: return "gauge";
    case number_kind_id::counter: return "counter";
    case number_kind_id::constant: return "constant";
    default: return "unknown";
  }
}
inline std::string name(usage_kind value) {
  std::string text;
  detail::append_name(text, has(value, usage_kind::compute), "compute");
  detail::append_name(text, has(value, usage_kind::graphics), "graphics");
  detail::append_name(text, has(value, usage_kind::media), "media");
  return text;
}
inline std::string_view name(name_status value) {
  switch (value) {
    case name_status::unknown: return "unknown";
    case name_status::resolved: return "resolved";
    case name_status::exited: return "exited";
    case name_status::protected_process: return "protected";
    case name_status::kernel: return "kernel";
    default: return "unknown";
  }
}
inline std::string name(part value) {
  std::string text;
  detail::append_name(text, has(value, part::memory), "memory");
  detail::append_name(text, has(value, part::system), "system");
  detail::append_name(text, has(value, part::devices), "devices");
  detail::append_name(text, has(value, part::pools), "pools");
  detail::append_name(text, has(value, part::self), "self");
  detail::append_name(text, has(value, part::processes), "processes");
  detail::append_name(text, has(value, part::telemetry), "telemetry");
  detail::append_name(text, has(value, part::metrics), "metrics");
  detail::append_name(text, has(value, part::groups), "groups");
  return text;
}
inline std::string name(line_flag value) {
  std::string text;
  detail::append_name(text, has(value, line_flag::mb), "mb");
  return text;
}
inline std::string_view name(device_format value) {
  switch (value) {
    case device_format::free: return "free";
    case device_format::total: return "total";
    case device_format::used: return "used";
    default: return "unknown";
  }
}
inline std::string name(sampler_flag value) {
  std::string text;
  detail::append_name(text, has(value, sampler_flag::peaks_only), "peaks_only");
  return text;
}
inline std::string_view name(sampler_state value) {
  switch (value) {
    case sampler_state::idle: return "idle";
    case sampler_state::running: return "running";
    case sampler_state::stopped: return "stopped";
    default: return "unknown";
  }
}
inline std::string name(attention_flag value) {
  std::string text;
  detail::append_name(text, has(value, attention_flag::fused), "fused");
  return text;
}
inline std::string_view name(cache_kind value) {
  switch (value) {
    case cache_kind::full: return "full";
    case cache_kind::window: return "window";
    case cache_kind::latent: return "latent";
    case cache_kind::state: return "state";
    default: return "unknown";
  }
}
inline std::string name(spill_state value) {
  std::string text;
  detail::append_name(text, has(value, spill_state::measurable), "measurable");
  detail::append_name(text, has(value, spill_state::now), "now");
  detail::append_name(text, has(value, spill_state::ever), "ever");
  return text;
}
inline std::string name(spill_rule value) {
  std::string text;
  detail::append_name(text, has(value, spill_rule::shared), "shared");
  detail::append_name(text, has(value, spill_rule::evicted), "evicted");
  return text;
}
inline std::string name(process_memory_field value) {
  std::string text;
  detail::append_name(text, has(value, process_memory_field::resident), "resident");
  detail::append_name(text, has(value, process_memory_field::peak_resident), "peak_resident");
  detail::append_name(text, has(value, process_memory_field::virtual_size), "virtual");
  detail::append_name(text, has(value, process_memory_field::swap), "swap");
  detail::append_name(text, has(value, process_memory_field::proportional), "proportional");
  detail::append_name(text, has(value, process_memory_field::private_set), "private");
  detail::append_name(text, has(value, process_memory_field::committed), "committed");
  detail::append_name(text, has(value, process_memory_field::footprint), "footprint");
  detail::append_name(text, has(value, process_memory_field::peak_footprint), "peak_footprint");
  detail::append_name(text, has(value, process_memory_field::peak_committed), "peak_committed");
  detail::append_name(text, has(value, process_memory_field::process_key), "process_key");
  return text;
}
inline std::string name(system_memory_field value) {
  std::string text;
  detail::append_name(text, has(value, system_memory_field::total), "total");
  detail::append_name(text, has(value, system_memory_field::available), "available");
  detail::append_name(text, has(value, system_memory_field::swap_total), "swap_total");
  detail::append_name(text, has(value, system_memory_field::swap_free), "swap_free");
  detail::append_name(text, has(value, system_memory_field::limit), "limit");
  detail::append_name(text, has(value, system_memory_field::limit_used), "limit_used");
  detail::append_name(text, has(value, system_memory_field::commit_limit), "commit_limit");
  detail::append_name(text, has(value, system_memory_field::committed), "committed");
  detail::append_name(text, has(value, system_memory_field::pressure), "pressure");
  detail::append_name(text, has(value, system_memory_field::stall), "stall");
  detail::append_name(text, has(value, system_memory_field::usable), "usable");
  return text;
}
inline std::string name(device_field value) {
  std::string text;
  detail::append_name(text, has(value, device_field::name), "name");
  detail::append_name(text, has(value, device_field::uuid), "uuid");
  detail::append_name(text, has(value, device_field::pci), "pci");
  detail::append_name(text, has(value, device_field::driver), "driver");
  detail::append_name(text, has(value, device_field::parent), "parent");
  detail::append_name(text, has(value, device_field::pci_device), "pci_device");
  detail::append_name(text, has(value, device_field::pci_subsystem), "pci_subsystem");
  detail::append_name(text, has(value, device_field::render_minor), "render_minor");
  detail::append_name(text, has(value, device_field::numa_node), "numa_node");
  detail::append_name(text, has(value, device_field::instance), "instance");
  detail::append_name(text, has(value, device_field::driver_index), "driver_index");
  detail::append_name(text, has(value, device_field::os_id), "os_id");
  detail::append_name(text, has(value, device_field::cuda_version), "cuda_version");
  detail::append_name(text, has(value, device_field::compute_capability), "compute_capability");
  detail::append_name(text, has(value, device_field::architecture), "architecture");
  return text;
}
inline std::string name(pool_field value) {
  std::string text;
  detail::append_name(text, has(value, pool_field::total), "total");
  detail::append_name(text, has(value, pool_field::free), "free");
  detail::append_name(text, has(value, pool_field::used), "used");
  detail::append_name(text, has(value, pool_field::reserved), "reserved");
  detail::append_name(text, has(value, pool_field::usable), "usable");
  detail::append_name(text, has(value, pool_field::budget), "budget");
  detail::append_name(text, has(value, pool_field::unattributed), "unattributed");
  return text;
}
inline std::string name(telemetry_field value) {
  std::string text;
  detail::append_name(text, has(value, telemetry_field::gpu_busy), "gpu_busy");
  detail::append_name(text, has(value, telemetry_field::memory_busy), "memory_busy");
  detail::append_name(text, has(value, telemetry_field::encoder_busy), "encoder_busy");
  detail::append_name(text, has(value, telemetry_field::decoder_busy), "decoder_busy");
  detail::append_name(text, has(value, telemetry_field::temperature), "temperature");
  detail::append_name(text, has(value, telemetry_field::hotspot), "hotspot");
  detail::append_name(text, has(value, telemetry_field::memory_temperature), "memory_temperature");
  detail::append_name(text, has(value, telemetry_field::power), "power");
  detail::append_name(text, has(value, telemetry_field::power_limit), "power_limit");
  detail::append_name(text, has(value, telemetry_field::energy), "energy");
  detail::append_name(text, has(value, telemetry_field::core_clock), "core_clock");
  detail::append_name(text, has(value, telemetry_field::memory_clock), "memory_clock");
  detail::append_name(text, has(value, telemetry_field::fan_percent), "fan_percent");
  detail::append_name(text, has(value, telemetry_field::fan_rpm), "fan_rpm");
  detail::append_name(text, has(value, telemetry_field::pcie_generation), "pcie_generation");
  detail::append_name(text, has(value, telemetry_field::pcie_width), "pcie_width");
  detail::append_name(text, has(value, telemetry_field::pcie_rx), "pcie_rx");
  detail::append_name(text, has(value, telemetry_field::pcie_tx), "pcie_tx");
  detail::append_name(text, has(value, telemetry_field::throttle), "throttle");
  detail::append_name(text, has(value, telemetry_field::p_state), "p_state");
  detail::append_name(text, has(value, telemetry_field::window), "window");
  return text;
}
inline std::string name(metric_field value) {
  std::string text;
  detail::append_name(text, has(value, metric_field::value), "value");
  detail::append_name(text, has(value, metric_field::count), "count");
  detail::append_name(text, has(value, metric_field::window), "window");
  return text;
}
inline std::string name(usage_field value) {
  std::string text;
  detail::append_name(text, has(value, usage_field::used), "used");
  detail::append_name(text, has(value, usage_field::resident), "resident");
  detail::append_name(text, has(value, usage_field::committed), "committed");
  detail::append_name(text, has(value, usage_field::allocated), "allocated");
  detail::append_name(text, has(value, usage_field::shared), "shared");
  detail::append_name(text, has(value, usage_field::purgeable), "purgeable");
  detail::append_name(text, has(value, usage_field::evicted), "evicted");
  detail::append_name(text, has(value, usage_field::host_pool), "host_pool");
  detail::append_name(text, has(value, usage_field::host_resident), "host_resident");
  detail::append_name(text, has(value, usage_field::budget), "budget");
  detail::append_name(text, has(value, usage_field::busy_ns), "busy_ns");
  detail::append_name(text, has(value, usage_field::busy_percent), "busy_percent");
  detail::append_name(text, has(value, usage_field::start_time), "start_time");
  detail::append_name(text, has(value, usage_field::uid), "uid");
  detail::append_name(text, has(value, usage_field::instance), "instance");
  detail::append_name(text, has(value, usage_field::kinds), "kinds");
  detail::append_name(text, has(value, usage_field::peak_used), "peak_used");
  detail::append_name(text, has(value, usage_field::process_key), "process_key");
  return text;
}
// end generated: names
// clang-format on
// How many bits such a number has; 0 for one that the library does not know.
inline std::uint32_t bits(dtype_id dtype) noexcept {
  return hmn_dtype_bits(number(dtype));
}
// A size for people: "512 MiB", "8.2 GiB".
inline std::string format_bytes(std::uint64_t bytes) {
  return *detail::read_text(
      [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed, hmn_error* e) {
        return hmn_format_bytes(bytes, buffer, capacity, needed, e);
      });
}

// ---- snapshots
// -------------------------------------------------------------------------------------------------

// Names a value that may be missing: hmn_reason_key.
struct reason_key {
  part subject{};
  std::uint32_t device_index = 0;
  std::uint32_t pid = 0;  // with part::processes
  pool_kind pool{};       // with part::pools
  std::uint32_t pool_instance = 0;
  metric_id metric{};     // with part::metrics
  std::uint32_t metric_instance = 0;
  std::uint64_t field = 0;  // presence bit of the value; 0: the subject as a whole
};

namespace detail {
inline hmn_reason_key native(const reason_key& key) noexcept {
  auto c_key = make_record<hmn_reason_key>();
  c_key.subject = number(key.subject);
  c_key.device_index = key.device_index;
  c_key.pid = key.pid;
  c_key.pool = number(key.pool);
  c_key.pool_instance = key.pool_instance;
  c_key.metric = number(key.metric);
  c_key.metric_instance = key.metric_instance;
  c_key.field = key.field;
  return c_key;
}
}  // namespace detail

// One consistent, immutable snapshot; made by context::take, outlives its context. `position` counts
// from 0 in its lists and is not a device's index. Any thread may use it at any time. Throws error
// with status range for a position past the end.
class snapshot {
  template <class Record, class Function, class... Position>
  auto read(Function function, Position... position) const {
    const std::shared_ptr<hmn_snapshot> handle = native();
    return detail::value(detail::read_if_present<Record>(
        [&](Record* out, hmn_error* e) { return function(handle.get(), position..., out, e); }));
  }
  template <class Function, class... Arguments>
  std::optional<std::string> read_text(Function function, Arguments... arguments) const {
    return read_text_with_capacity(64, function, arguments...);
  }
  template <class Function, class... Arguments>
  std::optional<std::string> read_text_with_capacity(std::uint32_t expected, Function function,
                                                     Arguments... arguments) const {
    const std::shared_ptr<hmn_snapshot> handle = native();
    return detail::read_text(
        [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed, hmn_error* e) {
          return function(handle.get(), arguments..., buffer, capacity, needed, e);
        },
        expected);
  }
  // Moves each entry of a list to its device; both are in the order of device indexes.
  template <class Value>
  static void distribute(std::vector<snapshot_device>& devices, std::vector<Value> list,
                         std::vector<Value> snapshot_device::*member) {
    auto owner = devices.begin();
    for (Value& entry : list) {
      while (owner != devices.end() && owner->device.index < entry.device_index) ++owner;
      if (owner == devices.end()) break;
      ((*owner).*member).push_back(std::move(entry));
    }
  }
  template <class Value>
  std::vector<Value> read_all(std::uint32_t count,
                              Value (snapshot::*read_entry)(std::uint32_t) const) const {
    std::vector<Value> entries;
    entries.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) entries.push_back((this->*read_entry)(i));
    return entries;
  }

 public:
  // Takes ownership of the handle.
  explicit snapshot(hmn_snapshot* handle) : holder_(handle, &hmn_snapshot_destroy) {}
  snapshot(snapshot&&) noexcept = default;
  snapshot& operator=(snapshot&&) noexcept = default;

  // Frees the C snapshot; calling it again is fine.
  void close() noexcept { holder_.release(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, which stays valid as long as the result exists.
  std::shared_ptr<hmn_snapshot> native() const { return holder_.get("the snapshot is closed"); }

  snapshot_info info() const { return *read<hmn_snapshot_info>(&hmn_snapshot_read); }
  // The caller's host memory; nothing where it was not requested or is not available. The same
  // holds for system, telemetry and own_usage.
  std::optional<hypomnesis::process_memory> memory() const {
    return read<hmn_process_memory>(&hmn_snapshot_memory);
  }
  std::optional<hypomnesis::system_memory> system() const {
    return read<hmn_system_memory>(&hmn_snapshot_system);
  }

  hypomnesis::device device(std::uint32_t position) const {
    return *read<hmn_device>(&hmn_snapshot_device_at, position);
  }
  std::optional<hypomnesis::telemetry> telemetry(std::uint32_t device_index) const {
    return read<hmn_telemetry>(&hmn_snapshot_find_telemetry, device_index);
  }
  std::optional<hypomnesis::usage> own_usage(std::uint32_t device_index) const {
    return read<hmn_usage>(&hmn_snapshot_find_self, device_index);
  }
  // The pool of a device by its kind, or with an instance from 1 a part of it; nothing where it has
  // none. Parts are present with snapshot_options.parts.
  std::optional<hypomnesis::pool> pool(std::uint32_t device_index, pool_kind kind,
                                       std::uint32_t instance = 0) const {
    return read<hmn_pool>(&hmn_snapshot_find_pool, device_index, number(kind), instance);
  }
  hypomnesis::pool pool(std::uint32_t position) const { return *read<hmn_pool>(&hmn_snapshot_pool_at, position); }
  hypomnesis::usage usage(std::uint32_t position) const {
    hypomnesis::usage result = *read<hmn_usage>(&hmn_snapshot_usage_at, position);
    detail::add_texts(result, [&](std::uint32_t text) {
      return read_text(&hmn_snapshot_text_at, text, position);
    });
    return result;
  }
  hypomnesis::metric metric(std::uint32_t position) const {
    return *read<hmn_metric>(&hmn_snapshot_metric_at, position);
  }
  hypomnesis::group group(std::uint32_t position) const {
    hypomnesis::group result = *read<hmn_group>(&hmn_snapshot_group_at, position);
    detail::add_texts(result, [&](std::uint32_t text) {
      return read_text(&hmn_snapshot_text_at, text, position);
    });
    return result;
  }
  hypomnesis::diagnostic diagnostic(std::uint32_t position) const {
    return *read<hmn_diagnostic>(&hmn_snapshot_diagnostic_at, position);
  }
  // Why a value is missing. Nothing where the subject was not requested.
  std::optional<hypomnesis::diagnostic> reason(const reason_key& key) const {
    const hmn_reason_key c_key = detail::native(key);
    return read<hmn_diagnostic>(&hmn_snapshot_reason, &c_key);
  }
  // Why a value of a device, by its index, is missing. `field` is its presence bit; 0: the subject as
  // a whole.
  std::optional<hypomnesis::diagnostic> reason(std::uint32_t device_index, part subject,
                                               std::uint64_t field = 0) const {
    reason_key key;
    key.subject = subject;
    key.device_index = device_index;
    key.field = field;
    return reason(key);
  }
  // Why a metric of a device is missing.
  std::optional<hypomnesis::diagnostic> reason(std::uint32_t device_index, metric_id metric,
                                               std::uint32_t instance = 0) const {
    reason_key key;
    key.subject = part::metrics;
    key.device_index = device_index;
    key.metric = metric;
    key.metric_instance = instance;
    return reason(key);
  }
  // The name of the process of a usage; nothing where it is not known.
  std::optional<std::string> process_name(std::uint32_t position) const {
    return read_text(&hmn_snapshot_text_at, std::uint32_t{HMN_TEXT_PROCESS_NAME}, position);
  }
  // Its command line, and "docker:<id>".
  std::optional<std::string> process_command(std::uint32_t position) const {
    return read_text(&hmn_snapshot_text_at, std::uint32_t{HMN_TEXT_PROCESS_COMMAND}, position);
  }
  std::optional<std::string> process_container(std::uint32_t position) const {
    return read_text(&hmn_snapshot_text_at, std::uint32_t{HMN_TEXT_PROCESS_CONTAINER}, position);
  }

  std::vector<hypomnesis::device> devices() const {
    return read_all(info().device_count, &snapshot::device);
  }
  std::vector<hypomnesis::pool> pools() const { return read_all<hypomnesis::pool>(info().pool_count, &snapshot::pool); }
  std::vector<hypomnesis::usage> usages() const {
    return read_all(info().usage_count, &snapshot::usage);
  }
  std::vector<hypomnesis::metric> metrics() const {
    return read_all(info().metric_count, &snapshot::metric);
  }
  std::vector<hypomnesis::group> groups() const { return read_all(info().group_count, &snapshot::group); }
  std::vector<hypomnesis::diagnostic> diagnostics() const {
    return read_all(info().diagnostic_count, &snapshot::diagnostic);
  }
  // Everything, copied.
  snapshot_values values() const {
    snapshot_values result{info(), memory(), system(), {}, usages(), groups(), diagnostics()};
    result.devices.reserve(result.info.device_count);
    for (std::uint32_t i = 0; i < result.info.device_count; ++i) {
      hypomnesis::device identity = device(i);
      const std::uint32_t index = identity.index;
      result.devices.push_back({std::move(identity), {}, telemetry(index), own_usage(index), {}});
    }
    distribute(result.devices, pools(), &snapshot_device::pools);
    distribute(result.devices, metrics(), &snapshot_device::metrics);
    return result;
  }

  // The whole snapshot as one JSON object.
  std::string json() const {
    // More than records usually need: with too small a buffer the text is written twice.
    const auto counts = info();
    const auto records = counts.pool_count + counts.usage_count + counts.diagnostic_count +
                         counts.metric_count + counts.group_count;
    const std::uint32_t capacity = 4096 + 2048 * counts.device_count + 400 * records;
    return *read_text_with_capacity(capacity, &hmn_format_json, hmn_flags{0});
  }
  // A device as one line; nothing where a value is not known.
  std::optional<std::string> device_line(std::uint32_t device_index,
                                         device_format format = device_format::free,
                                         line_flag flags = {}) const {
    return read_text(&hmn_format_device, device_index, number(format), number(flags));
  }

 private:
  detail::holder<hmn_snapshot> holder_;
};

// What changed on a device (by its index) and on the host; nothing where the snapshots have nothing
// in common.
inline std::optional<delta> compare(const snapshot& before, const snapshot& after,
                                    std::uint32_t device_index) {
  const auto c_before = before.native();
  const auto c_after = after.native();
  return detail::value(detail::read_if_present<hmn_delta>([&](hmn_delta* out, hmn_error* e) {
    return hmn_delta_read(c_before.get(), c_after.get(), device_index, out, e);
  }));
}

// The change as one line; nothing where host memory is missing on one side.
inline std::optional<std::string> delta_line(const snapshot& before, const snapshot& after,
                                             std::uint32_t device_index, std::string_view label,
                                             line_flag flags = {}) {
  const auto c_before = before.native();
  const auto c_after = after.native();
  const std::string c_label = detail::make_c_string(label);
  return detail::read_text(
      [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed, hmn_error* e) {
        return hmn_report_delta(c_before.get(), c_after.get(), device_index, c_label.c_str(),
                                number(flags), buffer, capacity, needed, e);
      });
}

// Both values and the change, one line for RAM and one for VRAM; nothing where host memory is
// missing on one side.
inline std::optional<std::string> before_after_lines(const snapshot& before, const snapshot& after,
                                                     std::uint32_t device_index,
                                                     std::string_view label,
                                                     line_flag flags = {}) {
  const auto c_before = before.native();
  const auto c_after = after.native();
  const std::string c_label = detail::make_c_string(label);
  return detail::read_text(
      [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed, hmn_error* e) {
        return hmn_report_before_after(c_before.get(), c_after.get(), device_index,
                                       c_label.c_str(), number(flags), buffer, capacity, needed, e);
      });
}

// ---- samplers
// --------------------------------------------------------------------------------------------------

// hmn_sampler_options.
struct sampler_options {
  sampler_flag flags{};
  std::chrono::nanoseconds interval{};          // from one snapshot to the next; 0: 1 s
  std::chrono::nanoseconds process_interval{};  // the same for those with processes; 0: 1 s
  std::uint32_t capacity = 0;                   // snapshots kept until they are pulled; 0: 64
};

#if defined(__cpp_lib_jthread) && !defined(_WIN32)
namespace detail {
// Wakes a thread that polls.
class waker {
 public:
  waker() {
    if (::pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    for (const int end : ends_) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  waker(const waker&) = delete;
  waker& operator=(const waker&) = delete;
  ~waker() {
    for (const int end : ends_) ::close(end);
  }
  void wake() const noexcept { [[maybe_unused]] const auto written = ::write(ends_[1], "", 1); }
  // Waits until wake, or until the descriptor is ready; `timeout_ms` may be -1.
  void wait(int descriptor, int timeout_ms) const noexcept {
    pollfd descriptors[] = {{descriptor, POLLIN, 0}, {ends_[0], POLLIN, 0}};
    ::poll(descriptors, 2, timeout_ms);
  }

 private:
  int ends_[2] = {-1, -1};
};
}  // namespace detail
#endif

// A thread that takes snapshots on a schedule; made by context::sample, outlives its context. Any
// thread may use it at any time. It is a range of its snapshots, which ends when it is stopped:
//
//     for (const hypomnesis::snapshot& snapshot : sampler) ...
class [[nodiscard]] sampler {
  template <class Record, class Function, class... Arguments>
  auto read(Function function, Arguments... arguments) const {
    const std::shared_ptr<hmn_sampler> handle = native();
    return detail::value(detail::read_if_present<Record>(
        [&](Record* out, hmn_error* e) { return function(handle.get(), arguments..., out, e); }));
  }

 public:
  // Takes ownership of the handle.
  explicit sampler(hmn_sampler* handle) : holder_(handle, &hmn_sampler_destroy) {}
  sampler(sampler&&) noexcept = default;
  sampler& operator=(sampler&&) noexcept = default;

  // Stops it without waiting for a driver; calling it again is fine.
  void close() noexcept {
    if (const auto handle = holder_.release()) hmn_sampler_stop(handle.get(), nullptr);
  }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, which stays valid as long as the result exists.
  std::shared_ptr<hmn_sampler> native() const { return holder_.get("the sampler is closed"); }

  // Can be called once.
  void start() {
    const auto handle = native();
    detail::perform([&](hmn_error* e) { return hmn_sampler_start(handle.get(), e); });
  }
  // Permanently. Wakes callers that wait in next, and waits for no driver.
  void stop() {
    const auto handle = native();
    detail::perform([&](hmn_error* e) { return hmn_sampler_stop(handle.get(), e); });
  }
  // Whether no snapshot follows, because it was stopped and all were pulled.
  bool has_ended() const { return has_ended(native().get()); }
  // The oldest snapshot that was not pulled yet; nothing when none came in time, or none will come:
  // see has_ended. Throws error with status state when it is not started or keeps none.
  [[nodiscard]] std::optional<snapshot> next(std::chrono::nanoseconds timeout = unlimited) {
    const auto handle = native();
    const std::uint64_t c_timeout = detail::nanoseconds("timeout", timeout);
    hmn_snapshot* c_snapshot = nullptr;
    hmn_error failure = detail::make_record<hmn_error>();
    switch (hmn_sampler_next(handle.get(), c_timeout, &c_snapshot, &failure)) {
      case HMN_OK:
        return snapshot(c_snapshot);
      case HMN_E_EMPTY:
        return std::nullopt;
      case HMN_E_STATE:
        if (has_ended(handle.get())) return std::nullopt;
        [[fallthrough]];
      default:
        throw detail::make_error(failure);
    }
  }
#if defined(__cpp_lib_jthread)
  // The same; also nothing as soon as a stop is requested, which ends this wait alone.
  [[nodiscard]] std::optional<snapshot> next(const std::stop_token& stop,
                                             std::chrono::nanoseconds timeout = unlimited) {
    using std::chrono::steady_clock;
    const auto begin = steady_clock::now();
#if defined(_WIN32)
    const std::chrono::nanoseconds slice = std::chrono::milliseconds(20);
#else
    const detail::waker waker;
    const std::stop_callback on_stop(stop, [&] { waker.wake(); });
    const std::chrono::nanoseconds slice = immediate;
    const int descriptor = static_cast<int>(handle());
#endif
    for (;;) {
      if (auto result = next(slice); result || stop.stop_requested() || has_ended()) return result;
      const std::chrono::nanoseconds passed = steady_clock::now() - begin;
      if (passed >= timeout) return std::nullopt;
#if !defined(_WIN32)
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          std::min<std::chrono::nanoseconds>(timeout - passed, std::chrono::hours(1)));
      waker.wait(descriptor, static_cast<int>(left.count()));
#endif
    }
  }
#endif

  struct end_of_snapshots {};
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = snapshot;
    using difference_type = std::ptrdiff_t;
    using pointer = const snapshot*;
    using reference = const snapshot&;

    explicit iterator(sampler& owner) : owner_(&owner) { ++*this; }
    reference operator*() const { return *current_; }
    pointer operator->() const { return &*current_; }
    iterator& operator++() {
      current_ = owner_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& position, end_of_snapshots) noexcept {
      return !position.current_;
    }
    friend bool operator!=(const iterator& position, end_of_snapshots) noexcept {
      return position.current_.has_value();
    }

   private:
    sampler* owner_;
    std::optional<snapshot> current_;
  };
  iterator begin() { return iterator(*this); }
  end_of_snapshots end() const noexcept { return {}; }

  // Ready whenever next has an answer: a descriptor to poll, on Windows a HANDLE. The sampler keeps
  // ownership, and closes it.
  std::int64_t handle() const {
    const auto handle = native();
    std::int64_t event = -1;
    detail::perform([&](hmn_error* e) { return hmn_sampler_handle(handle.get(), &event, e); });
    return event;
  }
  sampler_info info() const { return *read<hmn_sampler_info>(&hmn_sampler_read); }
  // The main pool as the latest snapshot has it, for every frame: no lock, no driver. Nothing where
  // there is none.
  std::optional<hypomnesis::pool> latest_pool(std::uint32_t device_index) const {
    return read<hmn_pool>(&hmn_sampler_latest_pool, device_index);
  }
  std::optional<hypomnesis::telemetry> latest_telemetry(std::uint32_t device_index) const {
    return read<hmn_telemetry>(&hmn_sampler_latest_telemetry, device_index);
  }
  // The highest that a process has used of a device.
  hypomnesis::peak peak(std::uint32_t device_index, std::uint32_t pid) const {
    return *read<hmn_peak>(&hmn_sampler_peak, device_index, pid);
  }
  // The highest that was used of a device; nothing where no snapshot has had its values.
  std::optional<hypomnesis::peak> device_peak(std::uint32_t device_index) const {
    return read<hmn_peak>(&hmn_sampler_peak_device, device_index);
  }

 private:
  static bool has_ended(hmn_sampler* handle) {
    auto info = detail::make_record<hmn_sampler_info>();
    detail::perform([&](hmn_error* e) { return hmn_sampler_read(handle, &info, e); });
    return info.state == HMN_SAMPLER_STATE_STOPPED && info.pending == 0;
  }

  detail::holder<hmn_sampler> holder_;
};

// ---- estimates
// -------------------------------------------------------------------------------------------------

// How elements lie packed: hmn_packing.
struct packing {
  dtype_id dtype{};                // of an element
  std::uint32_t element_bits = 0;  // instead of dtype, for elements of 2, 3 or 5 bits
  std::uint32_t group_size = 0;    // elements that share a scale; 0: no groups
  std::uint32_t group_bits = 0;    // what a group holds in addition to its elements
};

// One layer of attention at work: hmn_attention.
struct attention {
  attention_flag flags{};
  dtype_id dtype{};
  std::uint64_t batch = 0;  // 0: 1
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;  // 0: heads
  std::uint64_t sequence = 0;
  std::uint64_t head_dim = 0;
};

// The keys, the values or the state of layers that are alike: hmn_cache. estimate_sum adds keys and
// values. What a kind has no use for is 0.
struct cache {
  cache_kind kind{};
  dtype_id dtype{};
  std::uint32_t element_bits = 0;
  std::uint32_t group_size = 0;
  std::uint32_t group_bits = 0;
  std::uint64_t layers = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t row_dim = 0;
  std::uint64_t window = 0;
  std::uint64_t sinks = 0;
  std::uint64_t latent_dim = 0;
  std::uint64_t state_elements = 0;
};

// The memory that a model will need, by arithmetic alone. Throws error with status overflow where
// the result does not fit 64 bits, range or argument for what makes no sense.

// As candle, torch, safetensors, numpy or C call it; throws error with status argument.
inline dtype_id dtype_from_name(std::string_view name) {
  const std::string c_name = detail::make_c_string(name);
  std::uint32_t dtype = 0;
  detail::perform([&](hmn_error* e) { return hmn_dtype_from_name(c_name.c_str(), &dtype, e); });
  return static_cast<dtype_id>(dtype);
}

namespace detail {

// call(&out, &error) writes a number.
template <class Call>
std::uint64_t estimate(Call call) {
  std::uint64_t out = 0;
  perform([&](hmn_error* e) { return call(&out, e); });
  return out;
}

inline std::uint32_t count(const std::vector<std::uint64_t>& list) {
  if (list.size() > UINT32_MAX) {
    throw error(status_code::range, "a list of more than 4294967295 numbers");
  }
  return static_cast<std::uint32_t>(list.size());
}

template <class Target, class Source>
void set_packing(Target& target, const Source& source) {
  target.dtype = number(source.dtype);
  target.element_bits = source.element_bits;
  target.group_size = source.group_size;
  target.group_bits = source.group_bits;
}

}  // namespace detail

// Bytes of a tensor; without a dimension it is one element.
inline std::uint64_t estimate_tensor(const std::vector<std::uint64_t>& shape, dtype_id dtype) {
  return detail::estimate([&](std::uint64_t* out, hmn_error* e) {
    return hmn_estimate_tensor(shape.data(), detail::count(shape), number(dtype), out, e);
  });
}
// The same for a tensor whose elements lie in groups along the last dimension.
inline std::uint64_t estimate_packed(const std::vector<std::uint64_t>& shape,
                                     const packing& elements) {
  auto c_packing = detail::make_record<hmn_packing>();
  detail::set_packing(c_packing, elements);
  return detail::estimate([&](std::uint64_t* out, hmn_error* e) {
    return hmn_estimate_packed(shape.data(), detail::count(shape), &c_packing, out, e);
  });
}
// Queries, keys, values, scores and output of one layer.
inline std::uint64_t estimate_attention(const attention& layer) {
  auto c_layer = detail::make_record<hmn_attention>();
  c_layer.flags = number(layer.flags);
  c_layer.dtype = number(layer.dtype);
  c_layer.batch = layer.batch;
  c_layer.heads = layer.heads;
  c_layer.kv_heads = layer.kv_heads;
  c_layer.sequence = layer.sequence;
  c_layer.head_dim = layer.head_dim;
  return detail::estimate(
      [&](std::uint64_t* out, hmn_error* e) { return hmn_estimate_attention(&c_layer, out, e); });
}
// A cache that holds `sequences` sequences of `sequence` tokens each.
inline std::uint64_t estimate_cache(const cache& layers, std::uint64_t sequence,
                                    std::uint64_t sequences = 1) {
  auto c_cache = detail::make_record<hmn_cache>();
  c_cache.kind = number(layers.kind);
  detail::set_packing(c_cache, layers);
  c_cache.layers = layers.layers;
  c_cache.kv_heads = layers.kv_heads;
  c_cache.row_dim = layers.row_dim;
  c_cache.window = layers.window;
  c_cache.sinks = layers.sinks;
  c_cache.latent_dim = layers.latent_dim;
  c_cache.state_elements = layers.state_elements;
  return detail::estimate([&](std::uint64_t* out, hmn_error* e) {
    return hmn_estimate_cache(&c_cache, sequence, sequences, out, e);
  });
}
// bytes * per_thousand / 1000, rounded up; 0: 1100.
inline std::uint64_t estimate_overhead(std::uint64_t bytes, std::uint32_t per_thousand = 0) {
  return detail::estimate([&](std::uint64_t* out, hmn_error* e) {
    return hmn_estimate_overhead(bytes, per_thousand, out, e);
  });
}
inline std::uint64_t estimate_sum(const std::vector<std::uint64_t>& bytes) {
  return detail::estimate([&](std::uint64_t* out, hmn_error* e) {
    return hmn_estimate_sum(bytes.data(), detail::count(bytes), out, e);
  });
}

// ---- trackers
// --------------------------------------------------------------------------------------------------

// hmn_tracker_options.
struct tracker_options {
  std::optional<std::uint64_t> limit_bytes;  // none: no limit; 0 allows nothing
  std::uint32_t tag_capacity = 0;            // tags that there can be; 0: 64
};

// Bookkeeping of a budget, which allocates nothing itself. Any thread may use it at any time, a
// forked child its own copy. Throws error with status limit for what would exceed the limit.
class [[nodiscard]] tracker {
  template <class Call>
  void perform(Call call) const {
    const std::shared_ptr<hmn_tracker> handle = native();
    detail::perform([&](hmn_error* e) { return call(handle.get(), e); });
  }

 public:
  // For bookkeeping alone; context::track makes one that is linked to a device.
  explicit tracker(const tracker_options& options = {}) : tracker(create(nullptr, 0, options)) {}
  // Takes ownership of the handle.
  explicit tracker(hmn_tracker* handle) : holder_(handle, &hmn_tracker_destroy) {}
  tracker(tracker&&) noexcept = default;
  tracker& operator=(tracker&&) noexcept = default;

  void close() noexcept { holder_.release(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, which stays valid as long as the result exists.
  std::shared_ptr<hmn_tracker> native() const { return holder_.get("the tracker is closed"); }

  void allocate(std::uint64_t bytes) {
    perform([&](hmn_tracker* t, hmn_error* e) { return hmn_tracker_allocate(t, bytes, e); });
  }
  // Throws error with status range: more than is allocated.
  void release(std::uint64_t bytes) {
    perform([&](hmn_tracker* t, hmn_error* e) { return hmn_tracker_release(t, bytes, e); });
  }
  // Also counted under a tag.
  void allocate(std::uint64_t bytes, std::uint32_t tag_number) {
    perform([&](hmn_tracker* t, hmn_error* e) {
      return hmn_tracker_allocate_tagged(t, tag_number, bytes, e);
    });
  }
  void release(std::uint64_t bytes, std::uint32_t tag_number) {
    perform([&](hmn_tracker* t, hmn_error* e) {
      return hmn_tracker_release_tagged(t, tag_number, bytes, e);
    });
  }
  // The number of the tag with that name, which is created if there is none.
  std::uint32_t tag(std::string_view name) {
    const std::string c_name = detail::make_c_string(name);
    std::uint32_t tag_number = 0;
    perform([&](hmn_tracker* t, hmn_error* e) {
      return hmn_tracker_tag(t, c_name.c_str(), &tag_number, e);
    });
    return tag_number;
  }
  // Also asks the device that it is linked to; throws error when that does not answer.
  bool would_fit(std::uint64_t bytes) const {
    const auto handle = native();
    hmn_error failure = detail::make_record<hmn_error>();
    const hmn_status status = hmn_tracker_would_fit(handle.get(), bytes, &failure);
    if (status != HMN_OK && status != HMN_E_LIMIT) throw detail::make_error(failure);
    return status == HMN_OK;
  }
  // None removes the limit, 0 allows nothing. Throws error with status limit: more is allocated.
  void set_limit(std::optional<std::uint64_t> bytes) {
    perform([&](hmn_tracker* t, hmn_error* e) {
      return hmn_tracker_set_limit(t, bytes.value_or(UINT64_MAX), e);
    });
  }
  // Forgets what is allocated, and the peaks; limit and tags stay.
  void reset() {
    perform([](hmn_tracker* t, hmn_error* e) { return hmn_tracker_reset(t, e); });
  }
  tracker_info info() const {
    const auto handle = native();
    return detail::value(detail::read<hmn_tracker_info>([&](hmn_tracker_info* out, hmn_error* e) {
      return hmn_tracker_read(handle.get(), out, e);
    }));
  }
  // What was allocated under a tag, from 1 up to info().tag_count.
  hypomnesis::tag tag_info(std::uint32_t number) const {
    const auto handle = native();
    return detail::value(detail::read<hmn_tag>([&](hmn_tag* out, hmn_error* e) {
      return hmn_tracker_read_tag(handle.get(), number, out, e);
    }));
  }

 private:
  friend class context;
  static hmn_tracker* create(hmn_context* c_context, std::uint32_t device_index,
                             const tracker_options& options) {
    auto c_options = detail::make_record<hmn_tracker_options>();
    if (options.limit_bytes) c_options.flags |= HMN_TRACKER_LIMITED;
    c_options.limit_bytes = options.limit_bytes.value_or(0);
    c_options.tag_capacity = options.tag_capacity;
    hmn_tracker* c_tracker = nullptr;
    detail::perform([&](hmn_error* e) {
      return hmn_tracker_create(c_context, device_index, &c_options, &c_tracker, e);
    });
    return c_tracker;
  }
  detail::holder<hmn_tracker> holder_;
};

// ---- spill
// --------------------------------------------------------------------------------------------------

// hmn_spill_options.
struct spill_options {
  std::uint32_t episode_capacity = 0;           // episodes kept; 0: 1024
  std::uint64_t dedicated_threshold_bytes = 0;  // 0: 85 % of the device's memory
  std::uint64_t growth_bytes = 0;               // over the first observation; 0: 256 MiB
};

// hmn_spill_sample: values from elsewhere.
struct spill_sample {
  std::uint64_t monotonic_ns = 0;  // 0: now
  std::uint64_t dedicated_bytes = 0;
  std::uint64_t shared_bytes = 0;
  std::optional<std::uint64_t> limit_bytes;
  std::optional<std::uint64_t> evicted_bytes;
};

// Detects device memory that moves to the host; made by context::detect_spill, or by fed for
// values from elsewhere and for snapshots. Outlives its context. Any thread may use it at any
// time.
class [[nodiscard]] spill {
 public:
  // Takes ownership of the handle.
  explicit spill(hmn_spill* handle) : holder_(handle, &hmn_spill_destroy) {}
  spill(spill&&) noexcept = default;
  spill& operator=(spill&&) noexcept = default;

  // Without a context; device_index is that of the snapshots.
  static spill fed(const spill_options& options = {}, std::uint32_t device_index = 0) {
    return make(nullptr, device_index, options);
  }

  void close() noexcept { holder_.release(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, which stays valid as long as the result exists.
  std::shared_ptr<hmn_spill> native() const { return holder_.get("the spill detector is closed"); }

  // Reads the device. The label names the observation. Throws error with status unsupported where
  // the device does not report it; info() has that status, too.
  void observe(std::string_view label) {
    const auto handle = native();
    const std::string c_label = detail::make_c_string(label);
    detail::perform(
        [&](hmn_error* e) { return hmn_spill_observe(handle.get(), c_label.c_str(), e); });
  }
  // Reads the device from a snapshot with pools and processes.
  void observe(const snapshot& source, std::string_view label) {
    const auto handle = native();
    const auto c_snapshot = source.native();
    const std::string c_label = detail::make_c_string(label);
    detail::perform([&](hmn_error* e) {
      return hmn_spill_observe_snapshot(handle.get(), c_snapshot.get(), c_label.c_str(), e);
    });
  }
  void feed(const spill_sample& sample, std::string_view label) {
    const auto handle = native();
    const std::string c_label = detail::make_c_string(label);
    auto c_sample = detail::make_record<hmn_spill_sample>();
    c_sample.flags = (sample.limit_bytes ? hmn_flags{HMN_SPILL_SAMPLE_HAS_LIMIT} : 0u) |
                     (sample.evicted_bytes ? hmn_flags{HMN_SPILL_SAMPLE_HAS_EVICTED} : 0u);
    c_sample.monotonic_ns = sample.monotonic_ns;
    c_sample.dedicated_bytes = sample.dedicated_bytes;
    c_sample.shared_bytes = sample.shared_bytes;
    c_sample.limit_bytes = sample.limit_bytes.value_or(0);
    c_sample.evicted_bytes = sample.evicted_bytes.value_or(0);
    detail::perform(
        [&](hmn_error* e) { return hmn_spill_feed(handle.get(), &c_sample, c_label.c_str(), e); });
  }
  spill_info info() const {
    const auto handle = native();
    return *detail::value(detail::read_if_present<hmn_spill_info>(
        [&](hmn_spill_info* out, hmn_error* e) { return hmn_spill_read(handle.get(), out, e); }));
  }
  // By its number, from 0. Throws error with status range for an episode that has not begun yet or
  // was dropped.
  hypomnesis::episode episode(std::uint64_t number) const {
    const auto handle = native();
    return *detail::value(detail::read_if_present<hmn_episode>(
        [&](hmn_episode* out, hmn_error* e) {
      return hmn_spill_episode(handle.get(), number, out, e);
    }));
  }

 private:
  friend class context;
  static spill make(hmn_context* c_context, std::uint32_t device_index,
                    const spill_options& options) {
    auto c_options = detail::make_record<hmn_spill_options>();
    c_options.episode_capacity = options.episode_capacity;
    c_options.dedicated_threshold_bytes = options.dedicated_threshold_bytes;
    c_options.growth_bytes = options.growth_bytes;
    hmn_spill* c_spill = nullptr;
    detail::perform([&](hmn_error* e) {
      return hmn_spill_create(c_context, device_index, &c_options, &c_spill, e);
    });
    return spill(c_spill);
  }

  detail::holder<hmn_spill> holder_;
};

// ---- contexts
// --------------------------------------------------------------------------------------------------

// The result of context::scan().
struct device_scan {
  std::uint32_t count = 0;       // device indexes, which never become fewer
  std::uint64_t generation = 0;  // changes when a device is added, is gone or comes back
};

// Zero is the default in every field: hmn_context_options.
struct context_options {
  context_flag flags{};
  std::chrono::nanoseconds deadline{};       // longest that one call may wait for drivers; 0: 1 s
  std::chrono::nanoseconds stale{};          // oldest value returned instead of a timeout; 0: 5 s
  std::chrono::nanoseconds open_deadline{};  // longest wait for a vendor library to open; 0: 10 s
  std::chrono::nanoseconds max_age{};     // readings this young share one driver call; 0: none do
  std::chrono::nanoseconds idle_close{};  // when an idle vendor library is shut down; 0: 2 s
  std::chrono::nanoseconds rescan{};      // how often all processes are scanned; 0: 2 s
  std::uint64_t backends_off = 0;         // bit n disables backend n
  std::uint32_t rescan_percent = 0;       // of a core, at most, for rescan; 0: 2
  std::uint32_t device_classes = 0;       // bit n lists devices of class n; 0: GPUs
};

// hmn_snapshot_options.
struct snapshot_options {
  part collect{};                             // none: memory, devices, pools, self
  std::optional<std::uint32_t> device_index;  // this device alone
  std::optional<std::uint32_t> pid;           // of the usages, those of this process alone
  std::chrono::nanoseconds deadline{};        // 0: the context's
  bool slow = false;                          // also metrics that take more than a few milliseconds
  bool quick = false;                         // without values that take the driver milliseconds
  bool parts = false;                         // also the parts of pools
};

// Sources of measurement, opened once and kept. Any thread may use it at any time. Throws error;
// hypomnesis.h lists the statuses of each call. After fork() the child's copy of it throws
// error with status forked: make a new one.
class [[nodiscard]] context {
  template <class Record, class Function, class... Arguments>
  auto read(Function function, Arguments... arguments) const {
    const auto handle = native();
    return detail::value(detail::read<Record>(
        [&](Record* out, hmn_error* e) { return function(handle.get(), arguments..., out, e); }));
  }

 public:
  // Touches no driver and starts no thread.
  explicit context(const context_options& options = {})
      : holder_(create(options), &hmn_context_destroy) {}
  context(context&&) noexcept = default;
  context& operator=(context&&) noexcept = default;

  // Never waits for a driver; calling it again is fine.
  void close() noexcept { holder_.release(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, which stays valid as long as the result exists.
  std::shared_ptr<hmn_context> native() const { return holder_.get("the context is closed"); }

  // Reads from another place than the default; only before the first reading.
  void set_path(path_kind path, std::string_view value) {
    set(path, detail::make_c_string(value).c_str());
  }
  void set_default_path(path_kind path) { set(path, nullptr); }

  // Status of a backend, which is opened if that was not tried yet.
  backend_info backend(backend_id backend) const {
    return read<hmn_backend_info>(&hmn_context_backend, number(backend));
  }
  // With context_flag::record: what the backends read so far, as a machine file.
  std::string recording() const {
    const auto handle = native();
    return *detail::read_text(
        [&](char* buffer, std::uint32_t capacity, std::uint32_t* needed, hmn_error* e) {
          return hmn_context_recording(handle.get(), 0, buffer, capacity, needed, e);
        });
  }

  // Until resume(), every call that waits for a driver, or would have to, throws error with status
  // cancelled. From any thread; not from a signal handler.
  void cancel() const { perform(&hmn_context_cancel); }
  void resume() const { perform(&hmn_context_resume); }

  // `fields` selects values; none: those that are cheap.
  hypomnesis::process_memory own_memory(process_memory_field fields = {}) const {
    return read<hmn_process_memory>(&hmn_process_memory_read_self, number(fields));
  }
  hypomnesis::process_memory process_memory(std::uint32_t pid,
                                            process_memory_field fields = {}) const {
    return read<hmn_process_memory>(&hmn_process_memory_read, pid, number(fields));
  }
  hypomnesis::system_memory system_memory(system_memory_field fields = {}) const {
    return read<hmn_system_memory>(&hmn_system_memory_read, number(fields));
  }

  // Asks every source for its devices; the other functions use the result. 0 devices: there
  // certainly is none; where none is known and a source failed, its failure is thrown.
  device_scan scan() const {
    const auto handle = native();
    device_scan result;
    detail::perform([&](hmn_error* e) {
      return hmn_device_scan(handle.get(), &result.count, &result.generation, e);
    });
    return result;
  }
  // The index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0", "render:128",
  // "driver:nvidia:0".
  std::uint32_t find_device(std::string_view key) const {
    const auto handle = native();
    const std::string c_key = detail::make_c_string(key);
    std::uint32_t index = 0;
    detail::perform(
        [&](hmn_error* e) { return hmn_device_find(handle.get(), c_key.c_str(), &index, e); });
    return index;
  }
  // The devices with their pools and telemetry, as a snapshot has them.
  std::vector<snapshot_device> devices() const {
    return take_parts(part::devices | part::pools | part::telemetry).devices;
  }
  // What each process uses of each device, as a snapshot has it.
  std::vector<hypomnesis::usage> processes() const { return take_parts(part::processes).usages; }
  hypomnesis::device device(std::uint32_t device_index, device_field fields = {}) const {
    return read<hmn_device>(&hmn_device_read, device_index, number(fields));
  }
  // With an instance from 1: a part of the pool.
  hypomnesis::pool pool(std::uint32_t device_index, pool_kind kind = pool_kind::main,
                        std::uint32_t instance = 0, pool_field fields = {}) const {
    return read<hmn_pool>(&hmn_pool_read, device_index, number(kind), instance, number(fields));
  }
  hypomnesis::telemetry telemetry(std::uint32_t device_index, telemetry_field fields = {}) const {
    return read<hmn_telemetry>(&hmn_telemetry_read, device_index, number(fields));
  }
  // One number of the whole device; `instance` is a number(), for example of a sensor_id.
  hypomnesis::metric metric(std::uint32_t device_index, metric_id id,
                            std::uint32_t instance = 0, metric_field fields = {}) const {
    auto key = detail::make_record<hmn_metric_key>();
    key.id = number(id);
    key.instance = instance;
    return read<hmn_metric>(&hmn_metric_read, device_index, &key, number(fields));
  }
  // What a process uses on a device; `pid` is as the driver counts it.
  hypomnesis::usage usage(std::uint32_t device_index, std::uint32_t pid,
                          usage_field fields = {}) const {
    return read<hmn_usage>(&hmn_usage_read, device_index, pid, number(fields));
  }
  hypomnesis::usage own_usage(std::uint32_t device_index, usage_field fields = {}) const {
    return read<hmn_usage>(&hmn_usage_read_self, device_index, number(fields));
  }

  // What could not be read is a diagnostic of the snapshot, and no error here.
  snapshot take(const snapshot_options& options = {}) const {
    const auto handle = native();
    const hmn_snapshot_options c_options = convert(options);
    hmn_snapshot* c_snapshot = nullptr;
    detail::perform(
        [&](hmn_error* e) { return hmn_snapshot_take(handle.get(), &c_options, &c_snapshot, e); });
    return snapshot(c_snapshot);
  }
  snapshot take(part collect) const {
    snapshot_options options;
    options.collect = collect;
    return take(options);
  }

  // A sampler, not started yet. Each snapshot is taken with `contents`; without collect: devices,
  // pools and telemetry.
  sampler sample(const sampler_options& options = {}, const snapshot_options& contents = {}) const {
    const auto handle = native();
    auto c_options = detail::make_record<hmn_sampler_options>();
    c_options.flags = number(options.flags);
    c_options.interval_ns = detail::nanoseconds("interval", options.interval);
    c_options.process_interval_ns =
        detail::nanoseconds("process_interval", options.process_interval);
    c_options.capacity = options.capacity;
    const hmn_snapshot_options c_contents = convert(contents);
    hmn_sampler* c_sampler = nullptr;
    detail::perform([&](hmn_error* e) {
      return hmn_sampler_create(handle.get(), &c_options, &c_contents, &c_sampler, e);
    });
    return sampler(c_sampler);
  }

  // A detector of memory that moves from the device to the host. No driver is asked yet.
  spill detect_spill(std::uint32_t device_index, const spill_options& options = {}) const {
    return spill::make(native().get(), device_index, options);
  }
  // A tracker that also asks a device whether bytes would fit.
  tracker track(std::uint32_t device_index, const tracker_options& options = {}) const {
    const auto handle = native();
    return tracker(tracker::create(handle.get(), device_index, options));
  }

 private:
  snapshot_values take_parts(part parts) const {
    snapshot_options options;
    options.collect = parts;
    return take(options).values();
  }
  static hmn_snapshot_options convert(const snapshot_options& options) {
    auto c_options = detail::make_record<hmn_snapshot_options>();
    c_options.collect = number(options.collect);
    if (options.device_index) c_options.flags |= HMN_SNAPSHOT_ONE_DEVICE;
    if (options.pid) c_options.flags |= HMN_SNAPSHOT_ONE_PROCESS;
    if (options.slow) c_options.flags |= HMN_SNAPSHOT_SLOW;
    if (options.quick) c_options.flags |= HMN_SNAPSHOT_QUICK;
    if (options.parts) c_options.flags |= HMN_SNAPSHOT_PARTS;
    c_options.device_index = options.device_index.value_or(0);
    c_options.pid = options.pid.value_or(0);
    c_options.deadline_ns = detail::nanoseconds("deadline", options.deadline);
    return c_options;
  }
  static hmn_context* create(const context_options& options) {
    auto c_options = detail::make_record<hmn_context_options>();
    c_options.flags = number(options.flags);
    c_options.deadline_ns = detail::nanoseconds("deadline", options.deadline);
    c_options.stale_ns = detail::nanoseconds("stale", options.stale);
    c_options.open_deadline_ns = detail::nanoseconds("open_deadline", options.open_deadline);
    c_options.max_age_ns = detail::nanoseconds("max_age", options.max_age);
    c_options.idle_close_ns = detail::nanoseconds("idle_close", options.idle_close);
    c_options.rescan_ns = detail::nanoseconds("rescan", options.rescan);
    c_options.backends_off = options.backends_off;
    c_options.rescan_percent = options.rescan_percent;
    c_options.device_classes = options.device_classes;
    hmn_context* c_context = nullptr;
    detail::perform([&](hmn_error* e) { return hmn_context_create(&c_options, &c_context, e); });
    return c_context;
  }
  template <class Function>
  void perform(Function function) const {
    const auto handle = native();
    detail::perform([&](hmn_error* e) { return function(handle.get(), e); });
  }
  void set(path_kind path, const char* value) {
    const auto handle = native();
    detail::perform(
        [&](hmn_error* e) { return hmn_context_set_path(handle.get(), number(path), value, e); });
  }
  detail::holder<hmn_context> holder_;
};

}  // namespace hypomnesis
#endif
