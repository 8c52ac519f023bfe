// SPDX-License-Identifier: MIT OR Apache-2.0
//
// hypomnesis.hpp: libhypomnesis for C++17 and newer. Header only: link the C library and nothing
// else.
//
//     hypomnesis::context context;
//     if (const auto pool = context.pool(0); pool.free_bytes)
//       std::printf("%llu bytes free\n", static_cast<unsigned long long>(*pool.free_bytes));
//
// hypomnesis.h is the specification: a struct here has the fields of the C struct of its name, by
// the same names and in the same units (bytes, MHz, degrees Celsius, watts, nanoseconds). Three
// things differ:
//
// Absence. A value that may be unknown is a std::optional; nothing stands for "unknown" inside a
// number. Errors. A call that fails throws hypomnesis::error. A context or snapshot that was closed
// or moved from throws hypomnesis::closed, which is a mistake of the program. Ownership. context
// and snapshot release what they hold. Either may be closed or destroyed first, and close() may be
// called while other threads are inside calls: what these use stays valid until they return. Values
// are copies.
//
// Enumerations grow: compare with the names here and treat any other number as unknown. A set of
// bits is an enumeration with |, &, ^, ~ and has().
#ifndef HYPOMNESIS_HPP
#define HYPOMNESIS_HPP
#include <hypomnesis.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hypomnesis {

// ---- numbers with names
// ----------------------------------------------------------------------------------------

enum class status_code : std::int32_t {
  ok = HMN_OK,
  argument = HMN_E_ARGUMENT,
  struct_size = HMN_E_STRUCT_SIZE,
  unknown_flag = HMN_E_UNKNOWN_FLAG,
  range = HMN_E_RANGE,
  no_memory = HMN_E_NO_MEMORY,
  unsupported = HMN_E_UNSUPPORTED,
  no_source = HMN_E_NO_SOURCE,
  no_device = HMN_E_NO_DEVICE,
  no_process = HMN_E_NO_PROCESS,
  permission = HMN_E_PERMISSION,
  timeout = HMN_E_TIMEOUT,
  device_lost = HMN_E_DEVICE_LOST,
  backend = HMN_E_BACKEND,
  limit = HMN_E_LIMIT,
  overflow = HMN_E_OVERFLOW,
  forked = HMN_E_FORKED,
  buffer = HMN_E_BUFFER,
  empty = HMN_E_EMPTY,
  internal = HMN_E_INTERNAL,
  asleep = HMN_E_ASLEEP,
  state = HMN_E_STATE
};

// Who measured.
enum class backend_id : std::uint32_t {
  none = HMN_BACKEND_NONE,
  os = HMN_BACKEND_OS,
  nvml = HMN_BACKEND_NVML,
  nvidia_smi = HMN_BACKEND_NVIDIA_SMI,
  drm = HMN_BACKEND_DRM,
  simulated = HMN_BACKEND_SIMULATED
};

// Remarks on a value: bits.
enum class note : hmn_flags {
  stale = HMN_NOTE_STALE,
  lower_bound = HMN_NOTE_LOWER_BOUND,
  estimated = HMN_NOTE_ESTIMATED,
  truncated = HMN_NOTE_TRUNCATED,
  mixed = HMN_NOTE_MIXED,
  foreign_pid = HMN_NOTE_FOREIGN_PID,
  partial = HMN_NOTE_PARTIAL,
  trace = HMN_NOTE_TRACE
};

// Whose figure it is.
enum class scope_kind : std::uint32_t {
  none = HMN_SCOPE_NONE,
  process = HMN_SCOPE_PROCESS,
  device = HMN_SCOPE_DEVICE
};

// What a number of bytes counts.
enum class accounting_kind : std::uint32_t {
  none = HMN_ACCOUNT_NONE,
  resident = HMN_ACCOUNT_RESIDENT,
  committed = HMN_ACCOUNT_COMMITTED,
  allocated = HMN_ACCOUNT_ALLOCATED
};

// Whose number a native code is.
enum class domain : std::uint32_t {
  none = HMN_NATIVE_NONE,
  errno_code = HMN_NATIVE_ERRNO,
  nvml = HMN_NATIVE_NVML,
  exit_code = HMN_NATIVE_EXIT
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

enum class feature_id : std::uint32_t {
  subprocess = HMN_FEATURE_SUBPROCESS,
  simulation = HMN_FEATURE_SIMULATION,
  backend = HMN_FEATURE_BACKEND  // backend + n: backend n is compiled in
};

// How a context works: bits.
enum class context_flag : hmn_flags {
  no_subprocess = HMN_CONTEXT_NO_SUBPROCESS,
  wake_devices = HMN_CONTEXT_WAKE_DEVICES,
  no_threads = HMN_CONTEXT_NO_THREADS,
  environment = HMN_CONTEXT_ENVIRONMENT,
  trace = HMN_CONTEXT_TRACE
};

// Places that can be read from instead of the usual ones.
enum class path_kind : std::uint32_t {
  proc = HMN_PATH_PROC,
  sys = HMN_PATH_SYS,
  nvml = HMN_PATH_NVML,
  nvidia_smi = HMN_PATH_NVIDIA_SMI,
  simulation = HMN_PATH_SIMULATION,
  cgroup = HMN_PATH_CGROUP,
  dev = HMN_PATH_DEV
};

// What a backend or a device is doing.
enum class run_state : std::uint32_t {
  unknown = HMN_STATE_UNKNOWN,
  ready = HMN_STATE_READY,
  asleep = HMN_STATE_ASLEEP,
  lost = HMN_STATE_LOST,
  unreadable = HMN_STATE_UNREADABLE,
  hung = HMN_STATE_HUNG,
  absent = HMN_STATE_ABSENT,
  off = HMN_STATE_OFF
};

enum class device_kind : std::uint32_t {
  unknown = HMN_KIND_UNKNOWN,
  discrete = HMN_KIND_DISCRETE,
  integrated = HMN_KIND_INTEGRATED,
  partition = HMN_KIND_PARTITION,
  virtual_gpu = HMN_KIND_VIRTUAL
};

enum class device_memory : std::uint32_t {
  unknown = HMN_MEMORY_KIND_UNKNOWN,
  dedicated = HMN_MEMORY_KIND_DEDICATED,
  unified = HMN_MEMORY_KIND_UNIFIED,
  coherent = HMN_MEMORY_KIND_COHERENT
};

enum class pool_kind : std::uint32_t {
  main = HMN_POOL_MAIN,  // asked for: the pool that allocations come from
  vram = HMN_POOL_VRAM,
  vram_visible = HMN_POOL_VRAM_VISIBLE,
  host = HMN_POOL_HOST,
  unified = HMN_POOL_UNIFIED,
  stolen = HMN_POOL_STOLEN
};

// Why clocks are held down: bits.
enum class throttle_reason : hmn_flags {
  idle = HMN_THROTTLE_IDLE,
  power = HMN_THROTTLE_POWER,
  thermal = HMN_THROTTLE_THERMAL,
  hardware = HMN_THROTTLE_HARDWARE,
  setting = HMN_THROTTLE_SETTING,
  other = HMN_THROTTLE_OTHER
};

// What a process runs on a device: bits.
enum class usage_kind : hmn_flags {
  compute = HMN_USAGE_COMPUTE,
  graphics = HMN_USAGE_GRAPHICS,
  media = HMN_USAGE_MEDIA
};

// What is known of a process' name.
enum class name_status : std::uint32_t {
  unknown = HMN_NAME_UNKNOWN,
  resolved = HMN_NAME_RESOLVED,
  exited = HMN_NAME_EXITED,
  protected_process = HMN_NAME_PROTECTED,
  kernel = HMN_NAME_KERNEL
};

// What a snapshot collects: bits.
enum class part : hmn_flags {
  memory = HMN_COLLECT_MEMORY,
  system = HMN_COLLECT_SYSTEM,
  devices = HMN_COLLECT_DEVICES,
  pools = HMN_COLLECT_POOLS,
  self = HMN_COLLECT_SELF,
  processes = HMN_COLLECT_PROCESSES,
  telemetry = HMN_COLLECT_TELEMETRY
};

// Which figure a device's line shows.
enum class device_format : std::uint32_t {
  free = HMN_FORMAT_FREE,
  total = HMN_FORMAT_TOTAL,
  used = HMN_FORMAT_USED
};

// Fields of process_memory: bits.
enum class process_memory_field : hmn_flags {
  resident = HMN_PROCESS_MEMORY_HAS_RESIDENT,
  peak_resident = HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT,
  virtual_size = HMN_PROCESS_MEMORY_HAS_VIRTUAL,
  swap = HMN_PROCESS_MEMORY_HAS_SWAP,
  proportional = HMN_PROCESS_MEMORY_HAS_PROPORTIONAL,
  private_set = HMN_PROCESS_MEMORY_HAS_PRIVATE,
  committed = HMN_PROCESS_MEMORY_HAS_COMMITTED,
  footprint = HMN_PROCESS_MEMORY_HAS_FOOTPRINT
};

// Fields of telemetry: bits.
enum class telemetry_field : hmn_flags {
  gpu_busy = HMN_TELEMETRY_HAS_GPU_BUSY,
  memory_busy = HMN_TELEMETRY_HAS_MEMORY_BUSY,
  encoder_busy = HMN_TELEMETRY_HAS_ENCODER_BUSY,
  decoder_busy = HMN_TELEMETRY_HAS_DECODER_BUSY,
  temperature = HMN_TELEMETRY_HAS_TEMPERATURE,
  hotspot = HMN_TELEMETRY_HAS_HOTSPOT,
  memory_temperature = HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE,
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
inline constexpr bool is_set_of_bits<process_memory_field> = true;
template <>
inline constexpr bool is_set_of_bits<telemetry_field> = true;

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

// Whether all bits of `wanted` are in `all`.
template <class T, std::enable_if_t<is_set_of_bits<T>, int> = 0>
constexpr bool has(T all, T wanted) noexcept {
  return (all & wanted) == wanted;
}

// ---- errors
// ----------------------------------------------------------------------------------------------------

// A call failed. what() is a sentence that names the value and says what can be done.
class error : public std::runtime_error {
 public:
  error(status_code status, const std::string& message, backend_id backend = backend_id::none,
        hypomnesis::domain native_domain = hypomnesis::domain::none, std::int32_t native_code = 0)
      : std::runtime_error(message),
        status_(status),
        backend_(backend),
        native_domain_(native_domain),
        native_code_(native_code) {}

  status_code status() const noexcept { return status_; }
  const char* status_name() const noexcept { return hmn_status_name(number(status_)); }
  // Who failed; none: the library refused.
  backend_id backend() const noexcept { return backend_; }
  domain native_domain() const noexcept { return native_domain_; }
  std::int32_t native_code() const noexcept { return native_code_; }

 private:
  status_code status_;
  backend_id backend_;
  domain native_domain_;
  std::int32_t native_code_;
};

// A context or a snapshot was used after it was closed or moved from.
class closed : public std::logic_error {
 public:
  explicit closed(const char* what) : std::logic_error(what) {}
};

// ---- values
// ----------------------------------------------------------------------------------------------------

// How a backend fares: hmn_backend_info.
struct backend_info {
  note notes{};
  backend_id backend{};
  run_state state{};
  status_code status{};  // ok, or why it cannot serve
  domain native_domain{};
  std::int32_t native_code = 0;
  std::optional<std::string> version;  // of the driver or tool behind it
  std::string message;                 // why it cannot serve, and what can be done
};

// Host RAM of one process, in bytes: hmn_process_memory.
struct process_memory {
  note notes{};
  backend_id backend{};
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> peak_resident_bytes;
  std::optional<std::uint64_t> virtual_bytes;
  std::optional<std::uint64_t> swap_bytes;
  std::optional<std::uint64_t> proportional_bytes;
  std::optional<std::uint64_t> private_bytes;
  std::optional<std::uint64_t> committed_bytes;
  std::optional<std::uint64_t> footprint_bytes;
};

// The host's RAM and this container's share of it, in bytes: hmn_system_memory.
struct system_memory {
  note notes{};
  backend_id backend{};
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> available_bytes;
  std::optional<std::uint64_t> swap_total_bytes;
  std::optional<std::uint64_t> swap_free_bytes;
  std::optional<std::uint64_t> limit_bytes;
  std::optional<std::uint64_t> limit_used_bytes;
  std::optional<std::uint64_t> commit_limit_bytes;
  std::optional<std::uint64_t> committed_bytes;
};

// Who a device is: hmn_device.
struct device {
  note notes{};
  backend_id backend{};
  std::uint32_t index = 0;  // the context's number: never reused, never renumbered
  device_kind kind{};
  run_state state{};
  vendor_id vendor{};
  device_memory memory_kind{};
  std::optional<std::uint32_t> parent_index;
  std::optional<std::uint32_t> driver_index;
  std::optional<std::uint32_t> pci_device;
  std::optional<std::uint32_t> pci_subsystem;
  std::optional<std::uint32_t> render_minor;
  std::optional<std::uint32_t> numa_node;
  std::optional<std::uint32_t> gpu_instance;
  std::optional<std::uint32_t> compute_instance;
  std::optional<std::uint32_t> cuda_version;  // 1000 * major + 10 * minor
  std::optional<std::uint64_t> os_id;
  std::optional<std::string> name;
  std::optional<std::string> uuid;
  std::optional<std::string> pci_bus_id;
  std::optional<std::string> driver_version;
};

// One memory pool of a device, device-wide, in bytes: hmn_pool.
struct pool {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  pool_kind kind{};
  accounting_kind accounting{};
  bool is_main = false;
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> reserved_bytes;
  std::optional<std::uint64_t> usable_bytes;
  std::optional<std::uint64_t> budget_bytes;
  std::optional<std::uint64_t> unattributed_bytes;
  std::uint64_t age_ns = 0;
};

// Load, temperature and power of a device: hmn_telemetry.
struct telemetry {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  std::optional<std::uint32_t> core_clock_mhz;
  std::optional<std::uint32_t> memory_clock_mhz;
  std::optional<std::uint32_t> fan_percent;
  std::optional<std::uint32_t> fan_rpm;
  std::optional<std::uint32_t> pcie_generation;
  std::optional<std::uint32_t> pcie_width;
  std::optional<std::uint32_t> p_state;
  std::optional<throttle_reason> throttle;
  std::uint64_t backends = 0;  // bit n: backend n gave at least one field
  std::optional<double> gpu_busy_percent;
  std::optional<double> memory_busy_percent;
  std::optional<double> encoder_busy_percent;
  std::optional<double> decoder_busy_percent;
  std::optional<double> temperature_celsius;
  std::optional<double> hotspot_celsius;
  std::optional<double> memory_celsius;
  std::optional<double> power_watts;
  std::optional<double> power_limit_watts;
  std::optional<double> energy_joules;         // ever growing
  std::optional<std::uint64_t> pcie_rx_bytes;  // ever growing
  std::optional<std::uint64_t> pcie_tx_bytes;  // ever growing
  std::optional<std::uint64_t> window_ns;
  std::uint64_t age_ns = 0;
};

// What one process uses on one device: hmn_usage, and in a snapshot the process' name.
struct usage {
  note notes{};
  backend_id backend{};
  std::uint32_t pid = 0;
  std::uint32_t device_index = 0;
  std::optional<usage_kind> kinds;
  accounting_kind accounting{};
  name_status name_state{};
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gpu_instance;
  std::optional<std::uint32_t> compute_instance;
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> used_bytes;
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> committed_bytes;
  std::optional<std::uint64_t> allocated_bytes;
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::uint64_t> purgeable_bytes;
  std::optional<std::uint64_t> evicted_bytes;
  std::optional<std::uint64_t> host_pool_bytes;
  std::optional<std::uint64_t> host_resident_bytes;
  std::optional<std::uint64_t> budget_bytes;
  std::optional<std::uint64_t> busy_ns;  // ever growing
  std::optional<double> busy_percent;
  std::optional<std::uint64_t> window_ns;
  std::uint64_t age_ns = 0;
  std::optional<std::string> process_name;  // of snapshot::usages() alone
};

// Counts, times and notes of a snapshot: hmn_snapshot_info.
struct snapshot_info {
  note notes{};
  part collect{};
  std::uint32_t device_count = 0;
  std::uint32_t pool_count = 0;
  std::uint32_t usage_count = 0;
  std::uint32_t diagnostic_count = 0;
  std::uint32_t unreadable_process_count = 0;
  std::uint64_t unix_time_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::uint64_t duration_ns = 0;
};

// Why something is missing, and what can be done: hmn_diagnostic.
struct diagnostic {
  note notes{};
  backend_id backend{};
  status_code status{};
  domain native_domain{};
  std::int32_t native_code = 0;
  part subject{};
  std::optional<std::uint32_t>
      field;  // the presence bits of that struct that are missing because of it
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;
  std::uint32_t count = 0;
  std::optional<std::uint64_t> duration_ns;
  std::string message;
};

// What changed from one snapshot to another: hmn_delta.
struct delta {
  note notes{};
  backend_id backend{};
  std::uint32_t device_index = 0;
  scope_kind scope{};
  accounting_kind accounting{};
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> device_bytes;
  std::uint64_t elapsed_ns = 0;
  std::optional<double> energy_joules;
};

// A device of a snapshot with what the snapshot has of it.
struct device_picture {
  hypomnesis::device device;
  std::vector<hypomnesis::pool> pools;  // the main one first
  std::optional<hypomnesis::telemetry> telemetry;
  std::optional<usage> own_usage;
};

// A whole snapshot as values.
struct picture {
  snapshot_info info;
  std::optional<process_memory> memory;
  std::optional<system_memory> system;
  std::vector<device_picture> devices;
  std::vector<usage> usages;
  std::vector<diagnostic> diagnostics;
};

// ---- from the C structs
// ----------------------------------------------------------------------------------------

namespace detail {

template <class Record>
Record sized() noexcept {
  Record record{};
  record.struct_size = sizeof record;
  return record;
}

inline error failure(const hmn_error& e) {
  return error(static_cast<status_code>(e.status), e.message, static_cast<backend_id>(e.backend),
               static_cast<domain>(e.native_domain), e.native_code);
}

// Functions of snapshots give a status alone.
inline void check(hmn_status status) {
  if (status != HMN_OK) throw error(static_cast<status_code>(status), hmn_status_name(status));
}

// call(&error) gives a status.
template <class Call>
void perform(Call call) {
  hmn_error e = sized<hmn_error>();
  if (call(&e) != HMN_OK) throw failure(e);
}

// call(&record, &error) fills a C struct.
template <class Record, class Call>
Record ask(Call call) {
  Record record = sized<Record>();
  perform([&](hmn_error* e) { return call(&record, e); });
  return record;
}

// call(&record) fills a C struct out of a snapshot; nothing where the snapshot does not hold it.
template <class Record, class Call>
std::optional<Record> look(Call call) {
  Record record = sized<Record>();
  const hmn_status status = call(&record);
  if (status == HMN_E_EMPTY) return std::nullopt;
  check(status);
  return record;
}

// call(buffer, capacity, &needed) gives a text; nothing where it is not known.
template <class Call>
std::optional<std::string> text(Call call) {
  std::uint32_t needed = 0;
  hmn_status status = call(static_cast<char*>(nullptr), std::uint32_t{0}, &needed);
  std::string out;
  if (status == HMN_OK) {
    out.resize(needed);
    status = call(&out[0], needed, &needed);
  }
  if (status == HMN_E_EMPTY) return std::nullopt;
  check(status);
  out.resize(out.size() - 1);
  return out;
}

// A C string of a text; what stands behind a zero byte would be lost in silence.
inline std::string terminated(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw error(status_code::argument, "a text has a zero byte inside");
  }
  return std::string(text);
}

// The fields of a C struct, as its `present` says.
template <class Record>
class fields {
 public:
  explicit fields(const Record& record) noexcept : record_(record) {}

  template <class T>
  std::optional<T> get(int bit, T Record::*member) const {
    return has(bit) ? std::optional<T>(record_.*member) : std::nullopt;
  }
  template <class Enum>
  std::optional<Enum> bits(int bit, hmn_flags Record::*member) const {
    return has(bit) ? std::optional<Enum>(static_cast<Enum>(record_.*member)) : std::nullopt;
  }
  template <std::size_t N>
  std::optional<std::string> get(int bit, char (Record::*member)[N]) const {
    return has(bit) ? std::optional<std::string>(record_.*member) : std::nullopt;
  }

 private:
  bool has(int bit) const noexcept { return (record_.present & static_cast<hmn_flags>(bit)) != 0; }
  const Record& record_;
};

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
  using R = hmn_process_memory;
  const fields<R> f(r);
  process_memory v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.pid = r.pid;
  v.resident_bytes = f.get(HMN_PROCESS_MEMORY_HAS_RESIDENT, &R::resident_bytes);
  v.peak_resident_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT, &R::peak_resident_bytes);
  v.virtual_bytes = f.get(HMN_PROCESS_MEMORY_HAS_VIRTUAL, &R::virtual_bytes);
  v.swap_bytes = f.get(HMN_PROCESS_MEMORY_HAS_SWAP, &R::swap_bytes);
  v.proportional_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PROPORTIONAL, &R::proportional_bytes);
  v.private_bytes = f.get(HMN_PROCESS_MEMORY_HAS_PRIVATE, &R::private_bytes);
  v.committed_bytes = f.get(HMN_PROCESS_MEMORY_HAS_COMMITTED, &R::committed_bytes);
  v.footprint_bytes = f.get(HMN_PROCESS_MEMORY_HAS_FOOTPRINT, &R::footprint_bytes);
  return v;
}

inline system_memory value(const hmn_system_memory& r) {
  using R = hmn_system_memory;
  const fields<R> f(r);
  system_memory v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.total_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_TOTAL, &R::total_bytes);
  v.available_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_AVAILABLE, &R::available_bytes);
  v.swap_total_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL, &R::swap_total_bytes);
  v.swap_free_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_SWAP_FREE, &R::swap_free_bytes);
  v.limit_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_LIMIT, &R::limit_bytes);
  v.limit_used_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_LIMIT_USED, &R::limit_used_bytes);
  v.commit_limit_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT, &R::commit_limit_bytes);
  v.committed_bytes = f.get(HMN_SYSTEM_MEMORY_HAS_COMMITTED, &R::committed_bytes);
  return v;
}

inline device value(const hmn_device& r) {
  using R = hmn_device;
  const fields<R> f(r);
  device v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.index = r.index;
  v.kind = static_cast<device_kind>(r.kind);
  v.state = static_cast<run_state>(r.state);
  v.vendor = static_cast<vendor_id>(r.vendor);
  v.memory_kind = static_cast<device_memory>(r.memory_kind);
  v.parent_index = f.get(HMN_DEVICE_HAS_PARENT, &R::parent_index);
  v.driver_index = f.get(HMN_DEVICE_HAS_DRIVER_INDEX, &R::driver_index);
  v.pci_device = f.get(HMN_DEVICE_HAS_PCI_DEVICE, &R::pci_device);
  v.pci_subsystem = f.get(HMN_DEVICE_HAS_PCI_SUBSYSTEM, &R::pci_subsystem);
  v.render_minor = f.get(HMN_DEVICE_HAS_RENDER_MINOR, &R::render_minor);
  v.numa_node = f.get(HMN_DEVICE_HAS_NUMA_NODE, &R::numa_node);
  v.gpu_instance = f.get(HMN_DEVICE_HAS_INSTANCE, &R::gpu_instance);
  v.compute_instance = f.get(HMN_DEVICE_HAS_INSTANCE, &R::compute_instance);
  v.cuda_version = f.get(HMN_DEVICE_HAS_CUDA_VERSION, &R::cuda_version);
  v.os_id = f.get(HMN_DEVICE_HAS_OS_ID, &R::os_id);
  v.name = f.get(HMN_DEVICE_HAS_NAME, &R::name);
  v.uuid = f.get(HMN_DEVICE_HAS_UUID, &R::uuid);
  v.pci_bus_id = f.get(HMN_DEVICE_HAS_PCI, &R::pci_bus_id);
  v.driver_version = f.get(HMN_DEVICE_HAS_DRIVER, &R::driver_version);
  return v;
}

inline pool value(const hmn_pool& r) {
  using R = hmn_pool;
  const fields<R> f(r);
  pool v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.kind = static_cast<pool_kind>(r.kind);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.is_main = r.is_main != 0;
  v.total_bytes = f.get(HMN_POOL_HAS_TOTAL, &R::total_bytes);
  v.free_bytes = f.get(HMN_POOL_HAS_FREE, &R::free_bytes);
  v.used_bytes = f.get(HMN_POOL_HAS_USED, &R::used_bytes);
  v.reserved_bytes = f.get(HMN_POOL_HAS_RESERVED, &R::reserved_bytes);
  v.usable_bytes = f.get(HMN_POOL_HAS_USABLE, &R::usable_bytes);
  v.budget_bytes = f.get(HMN_POOL_HAS_BUDGET, &R::budget_bytes);
  v.unattributed_bytes = f.get(HMN_POOL_HAS_UNATTRIBUTED, &R::unattributed_bytes);
  v.age_ns = r.age_ns;
  return v;
}

inline telemetry value(const hmn_telemetry& r) {
  using R = hmn_telemetry;
  const fields<R> f(r);
  telemetry v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.core_clock_mhz = f.get(HMN_TELEMETRY_HAS_CORE_CLOCK, &R::core_clock_mhz);
  v.memory_clock_mhz = f.get(HMN_TELEMETRY_HAS_MEMORY_CLOCK, &R::memory_clock_mhz);
  v.fan_percent = f.get(HMN_TELEMETRY_HAS_FAN_PERCENT, &R::fan_percent);
  v.fan_rpm = f.get(HMN_TELEMETRY_HAS_FAN_RPM, &R::fan_rpm);
  v.pcie_generation = f.get(HMN_TELEMETRY_HAS_PCIE_GENERATION, &R::pcie_generation);
  v.pcie_width = f.get(HMN_TELEMETRY_HAS_PCIE_WIDTH, &R::pcie_width);
  v.p_state = f.get(HMN_TELEMETRY_HAS_P_STATE, &R::p_state);
  v.throttle = f.bits<throttle_reason>(HMN_TELEMETRY_HAS_THROTTLE, &R::throttle);
  v.backends = r.backends;
  v.gpu_busy_percent = f.get(HMN_TELEMETRY_HAS_GPU_BUSY, &R::gpu_busy_percent);
  v.memory_busy_percent = f.get(HMN_TELEMETRY_HAS_MEMORY_BUSY, &R::memory_busy_percent);
  v.encoder_busy_percent = f.get(HMN_TELEMETRY_HAS_ENCODER_BUSY, &R::encoder_busy_percent);
  v.decoder_busy_percent = f.get(HMN_TELEMETRY_HAS_DECODER_BUSY, &R::decoder_busy_percent);
  v.temperature_celsius = f.get(HMN_TELEMETRY_HAS_TEMPERATURE, &R::temperature_celsius);
  v.hotspot_celsius = f.get(HMN_TELEMETRY_HAS_HOTSPOT, &R::hotspot_celsius);
  v.memory_celsius = f.get(HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, &R::memory_celsius);
  v.power_watts = f.get(HMN_TELEMETRY_HAS_POWER, &R::power_watts);
  v.power_limit_watts = f.get(HMN_TELEMETRY_HAS_POWER_LIMIT, &R::power_limit_watts);
  v.energy_joules = f.get(HMN_TELEMETRY_HAS_ENERGY, &R::energy_joules);
  v.pcie_rx_bytes = f.get(HMN_TELEMETRY_HAS_PCIE_RX, &R::pcie_rx_bytes);
  v.pcie_tx_bytes = f.get(HMN_TELEMETRY_HAS_PCIE_TX, &R::pcie_tx_bytes);
  v.window_ns = f.get(HMN_TELEMETRY_HAS_WINDOW, &R::window_ns);
  v.age_ns = r.age_ns;
  return v;
}

inline usage value(const hmn_usage& r) {
  using R = hmn_usage;
  const fields<R> f(r);
  usage v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.pid = r.pid;
  v.device_index = r.device_index;
  v.kinds = f.bits<usage_kind>(HMN_USAGE_HAS_KINDS, &R::kinds);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.name_state = static_cast<name_status>(r.name_state);
  v.uid = f.get(HMN_USAGE_HAS_UID, &R::uid);
  v.gpu_instance = f.get(HMN_USAGE_HAS_INSTANCE, &R::gpu_instance);
  v.compute_instance = f.get(HMN_USAGE_HAS_INSTANCE, &R::compute_instance);
  v.start_unix_ns = f.get(HMN_USAGE_HAS_START_TIME, &R::start_unix_ns);
  v.used_bytes = f.get(HMN_USAGE_HAS_USED, &R::used_bytes);
  v.resident_bytes = f.get(HMN_USAGE_HAS_RESIDENT, &R::resident_bytes);
  v.committed_bytes = f.get(HMN_USAGE_HAS_COMMITTED, &R::committed_bytes);
  v.allocated_bytes = f.get(HMN_USAGE_HAS_ALLOCATED, &R::allocated_bytes);
  v.shared_bytes = f.get(HMN_USAGE_HAS_SHARED, &R::shared_bytes);
  v.purgeable_bytes = f.get(HMN_USAGE_HAS_PURGEABLE, &R::purgeable_bytes);
  v.evicted_bytes = f.get(HMN_USAGE_HAS_EVICTED, &R::evicted_bytes);
  v.host_pool_bytes = f.get(HMN_USAGE_HAS_HOST_POOL, &R::host_pool_bytes);
  v.host_resident_bytes = f.get(HMN_USAGE_HAS_HOST_RESIDENT, &R::host_resident_bytes);
  v.budget_bytes = f.get(HMN_USAGE_HAS_BUDGET, &R::budget_bytes);
  v.busy_ns = f.get(HMN_USAGE_HAS_BUSY_NS, &R::busy_ns);
  v.busy_percent = f.get(HMN_USAGE_HAS_BUSY_PERCENT, &R::busy_percent);
  v.window_ns = f.get(HMN_USAGE_HAS_BUSY_PERCENT, &R::window_ns);
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
  v.unix_time_ns = r.unix_time_ns;
  v.monotonic_ns = r.monotonic_ns;
  v.duration_ns = r.duration_ns;
  return v;
}

inline diagnostic value(const hmn_diagnostic& r) {
  using R = hmn_diagnostic;
  const fields<R> f(r);
  diagnostic v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.status = static_cast<status_code>(r.status);
  v.native_domain = static_cast<domain>(r.native_domain);
  v.native_code = r.native_code;
  v.subject = static_cast<part>(r.subject);
  v.field = f.get(HMN_DIAGNOSTIC_HAS_FIELD, &R::field);
  v.device_index = f.get(HMN_DIAGNOSTIC_HAS_DEVICE, &R::device_index);
  v.pid = f.get(HMN_DIAGNOSTIC_HAS_PID, &R::pid);
  v.count = r.count;
  v.duration_ns = f.get(HMN_DIAGNOSTIC_HAS_DURATION, &R::duration_ns);
  v.message = r.message;
  return v;
}

inline delta value(const hmn_delta& r) {
  using R = hmn_delta;
  const fields<R> f(r);
  delta v;
  v.notes = static_cast<note>(r.notes);
  v.backend = static_cast<backend_id>(r.backend);
  v.device_index = r.device_index;
  v.scope = static_cast<scope_kind>(r.scope);
  v.accounting = static_cast<accounting_kind>(r.accounting);
  v.memory_bytes = f.get(HMN_DELTA_HAS_MEMORY, &R::memory_bytes);
  v.device_bytes = f.get(HMN_DELTA_HAS_DEVICE, &R::device_bytes);
  v.elapsed_ns = r.elapsed_ns;
  v.energy_joules = f.get(HMN_DELTA_HAS_ENERGY, &R::energy_joules);
  return v;
}

template <class Record>
auto value(const std::optional<Record>& r) {
  using Value = decltype(value(*r));
  return r ? std::optional<Value>(value(*r)) : std::nullopt;
}

// Holds a handle for an object and for every call that is inside it, so that none is destroyed
// under a call.
template <class Handle>
class holder {
 public:
  holder(Handle* handle, void (*destroy)(Handle*)) : held_(handle, destroy) {}
  holder(holder&& other) noexcept : held_(other.take()) {}
  holder& operator=(holder&& other) noexcept {
    std::shared_ptr<Handle> next = other.take();
    const std::lock_guard<std::mutex> lock(mutex_);
    held_.swap(next);
    return *this;
  }
  ~holder() = default;

  std::shared_ptr<Handle> get(const char* complaint) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!held_) throw closed(complaint);
    return held_;
  }
  // Leaves nothing here.
  std::shared_ptr<Handle> take() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(held_, nullptr);
  }
  bool is_open() const noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_ != nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Handle> held_;
};

inline std::uint32_t milliseconds(std::chrono::milliseconds time) {
  if (time.count() < 0 || time.count() > std::int64_t{UINT32_MAX}) {
    throw error(status_code::range,
                std::to_string(time.count()) + " ms is not a time from 0 to 4294967295 ms");
  }
  return static_cast<std::uint32_t>(time.count());
}

}  // namespace detail

// ---- the library
// -----------------------------------------------------------------------------------------------

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
  return hmn_feature(number(feature_id::backend) + number(backend)) != 0;
}
// For instance "HMN_E_RANGE"; "HMN_E_?" for a number that the library does not know.
inline std::string_view name(status_code status) noexcept {
  return hmn_status_name(number(status));
}
// For instance "nvml"; "unknown" for a number that the library does not know.
inline std::string_view name(backend_id backend) noexcept {
  return hmn_backend_name(number(backend));
}
// A size for people: "512 MiB", "8.2 GiB".
inline std::string format_bytes(std::uint64_t bytes) {
  return *detail::text([&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_format_bytes(bytes, buffer, capacity, needed);
  });
}

// ---- snapshots
// -------------------------------------------------------------------------------------------------

// One consistent, immutable picture; made by context::take, outlives its context. `i` is a position
// in it, from 0: a device's index never is. Any thread may use it at any time. Throws error with
// status range for a position past the end.
class snapshot {
  template <class Record, class Function, class... Position>
  auto look(Function function, Position... i) const {
    const std::shared_ptr<hmn_snapshot> held = native();
    return detail::value(
        detail::look<Record>([&](Record* out) { return function(held.get(), i..., out); }));
  }
  template <class Function, class... Words>
  std::optional<std::string> text(Function function, Words... words) const {
    const std::shared_ptr<hmn_snapshot> held = native();
    return detail::text([&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
      return function(held.get(), words..., buffer, capacity, needed);
    });
  }
  template <class Value>
  std::vector<Value> all(std::uint32_t count, Value (snapshot::*one)(std::uint32_t) const) const {
    std::vector<Value> found;
    found.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) found.push_back((this->*one)(i));
    return found;
  }

 public:
  // Owns the handle from now on.
  explicit snapshot(hmn_snapshot* handle) : holder_(handle, &hmn_snapshot_destroy) {}
  snapshot(snapshot&&) noexcept = default;
  snapshot& operator=(snapshot&&) noexcept = default;

  // Gives back the memory; again is fine.
  void close() noexcept { holder_.take(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, for as long as the result is held.
  std::shared_ptr<hmn_snapshot> native() const { return holder_.get("the snapshot is closed"); }

  snapshot_info info() const { return *look<hmn_snapshot_info>(&hmn_snapshot_read); }
  // The caller's host memory; nothing where it was not asked for or is not to be had. The same
  // holds for system, telemetry and own_usage.
  std::optional<hypomnesis::process_memory> memory() const {
    return look<hmn_process_memory>(&hmn_snapshot_memory);
  }
  std::optional<hypomnesis::system_memory> system() const {
    return look<hmn_system_memory>(&hmn_snapshot_system);
  }

  hypomnesis::device device(std::uint32_t i) const {
    return *look<hmn_device>(&hmn_snapshot_device, i);
  }
  std::optional<hypomnesis::telemetry> telemetry(std::uint32_t i) const {
    return look<hmn_telemetry>(&hmn_snapshot_telemetry, i);
  }
  std::optional<hypomnesis::usage> own_usage(std::uint32_t i) const {
    return look<hmn_usage>(&hmn_snapshot_self, i);
  }
  hypomnesis::pool pool(std::uint32_t i) const { return *look<hmn_pool>(&hmn_snapshot_pool, i); }
  hypomnesis::usage usage(std::uint32_t i) const {
    hypomnesis::usage found = *look<hmn_usage>(&hmn_snapshot_usage, i);
    found.process_name = process_name(i);
    return found;
  }
  hypomnesis::diagnostic diagnostic(std::uint32_t i) const {
    return *look<hmn_diagnostic>(&hmn_snapshot_diagnostic, i);
  }
  // The name of the process of usage i; nothing where it is not known.
  std::optional<std::string> process_name(std::uint32_t i) const {
    return text(&hmn_snapshot_text, std::uint32_t{HMN_TEXT_PROCESS_NAME}, i);
  }

  std::vector<hypomnesis::device> devices() const {
    return all(info().device_count, &snapshot::device);
  }
  std::vector<hypomnesis::pool> pools() const { return all(info().pool_count, &snapshot::pool); }
  std::vector<hypomnesis::usage> usages() const {
    return all(info().usage_count, &snapshot::usage);
  }
  std::vector<hypomnesis::diagnostic> diagnostics() const {
    return all(info().diagnostic_count, &snapshot::diagnostic);
  }
  // Everything, copied.
  picture values() const {
    picture whole{info(), memory(), system(), {}, usages(), diagnostics()};
    whole.devices.reserve(whole.info.device_count);
    for (std::uint32_t i = 0; i < whole.info.device_count; ++i) {
      whole.devices.push_back({device(i), {}, telemetry(i), own_usage(i)});
    }
    auto to = whole.devices.begin();  // both are in the order of device indexes
    for (hypomnesis::pool& one : pools()) {
      while (to != whole.devices.end() && to->device.index < one.device_index) ++to;
      if (to == whole.devices.end()) break;
      to->pools.push_back(std::move(one));
    }
    return whole;
  }

  // The whole snapshot as one JSON object.
  std::string json() const { return *text(&hmn_format_json); }
  // The device at position i as one line; nothing where a figure is not known.
  std::optional<std::string> device_line(std::uint32_t i,
                                         device_format format = device_format::free) const {
    return text(&hmn_format_device, i, number(format));
  }

 private:
  detail::holder<hmn_snapshot> holder_;
};

// What changed on a device (by its index) and on the host; nothing where the snapshots have nothing
// in common.
inline std::optional<delta> compare(const snapshot& before, const snapshot& after,
                                    std::uint32_t device_index) {
  const auto a = before.native();
  const auto b = after.native();
  return detail::value(detail::look<hmn_delta>(
      [&](hmn_delta* out) { return hmn_report_read(a.get(), b.get(), device_index, out); }));
}

// The change as one line; nothing where host memory is missing on a side.
inline std::optional<std::string> delta_line(const snapshot& before, const snapshot& after,
                                             std::uint32_t device_index, std::string_view label) {
  const auto a = before.native();
  const auto b = after.native();
  const std::string c_label = detail::terminated(label);
  return detail::text([&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_report_delta(a.get(), b.get(), device_index, c_label.c_str(), buffer, capacity,
                            needed);
  });
}

// Both figures and the change, one line for RAM and one for VRAM; nothing where host memory is
// missing on a side.
inline std::optional<std::string> before_after_lines(const snapshot& before, const snapshot& after,
                                                     std::uint32_t device_index,
                                                     std::string_view label) {
  const auto a = before.native();
  const auto b = after.native();
  const std::string c_label = detail::terminated(label);
  return detail::text([&](char* buffer, std::uint32_t capacity, std::uint32_t* needed) {
    return hmn_report_before_after(a.get(), b.get(), device_index, c_label.c_str(), buffer,
                                   capacity, needed);
  });
}

// ---- contexts
// --------------------------------------------------------------------------------------------------

// Zero is the default in every field: hmn_context_options.
struct context_options {
  context_flag flags{};
  std::chrono::milliseconds deadline{};       // longest that one call may wait for drivers; 0: 1 s
  std::chrono::milliseconds stale{};          // oldest value given instead of a timeout; 0: 5 s
  std::chrono::milliseconds open_deadline{};  // longest wait for a vendor library to open; 0: 10 s
  std::chrono::milliseconds max_age{};     // readings this young share one driver call; 0: none do
  std::chrono::milliseconds idle_close{};  // when an idle vendor library is shut down; 0: 2 s
  std::uint64_t backends_off = 0;          // bit n disables backend n
};

// hmn_snapshot_options.
struct snapshot_options {
  part collect{};                             // none: memory, devices, pools, self
  std::optional<std::uint32_t> device_index;  // this device alone
  std::optional<std::uint32_t> pid;           // of the usages, those of this process alone
  std::chrono::milliseconds deadline{};       // 0: the context's
};

// Sources of measurement, opened once and kept. Any thread may use it at any time. Throws error;
// hypomnesis.h says which status each call can give. After fork() the child's copy of it throws
// error with status forked: make a new one.
class context {
  template <class Record, class Function, class... Words>
  auto ask(Function function, Words... words) const {
    const auto held = native();
    return detail::value(detail::ask<Record>(
        [&](Record* out, hmn_error* e) { return function(held.get(), words..., out, e); }));
  }

 public:
  // Touches no driver and starts no thread.
  explicit context(const context_options& options = {})
      : holder_(create(options), &hmn_context_destroy) {}
  context(context&&) noexcept = default;
  context& operator=(context&&) noexcept = default;

  // Never waits for a driver; again is fine.
  void close() noexcept { holder_.take(); }
  bool is_open() const noexcept { return holder_.is_open(); }
  // The C handle, for as long as the result is held.
  std::shared_ptr<hmn_context> native() const { return holder_.get("the context is closed"); }

  // Reads from another place than the usual one; only before the first reading.
  void set_path(path_kind path, std::string_view value) {
    set(path, detail::terminated(value).c_str());
  }
  void set_default_path(path_kind path) { set(path, nullptr); }

  // How a backend fares; it is opened if that was not tried yet.
  backend_info backend(backend_id backend) const {
    return ask<hmn_backend_info>(&hmn_context_backend, number(backend));
  }

  // `fields` are those that are wanted; none: those that are cheap.
  hypomnesis::process_memory own_memory(process_memory_field fields = {}) const {
    return ask<hmn_process_memory>(&hmn_process_memory_read_self, number(fields));
  }
  hypomnesis::process_memory process_memory(std::uint32_t pid,
                                            process_memory_field fields = {}) const {
    return ask<hmn_process_memory>(&hmn_process_memory_read, pid, number(fields));
  }
  hypomnesis::system_memory system_memory() const {
    return ask<hmn_system_memory>(&hmn_system_memory_read);
  }

  // How many device indexes were given; looks for devices first.
  std::uint32_t device_count() const {
    const auto held = native();
    std::uint32_t count = 0;
    detail::perform([&](hmn_error* e) { return hmn_device_count(held.get(), &count, e); });
    return count;
  }
  // The index of the device that a key names: "uuid:GPU-…", "pci:0000:01:00.0", "render:128",
  // "driver:0".
  std::uint32_t find_device(std::string_view key) const {
    const auto held = native();
    const std::string c_key = detail::terminated(key);
    std::uint32_t index = 0;
    detail::perform(
        [&](hmn_error* e) { return hmn_device_find(held.get(), c_key.c_str(), &index, e); });
    return index;
  }
  hypomnesis::device device(std::uint32_t device_index) const {
    return ask<hmn_device>(&hmn_device_read, device_index);
  }
  hypomnesis::pool pool(std::uint32_t device_index, pool_kind kind = pool_kind::main) const {
    return ask<hmn_pool>(&hmn_pool_read, device_index, number(kind));
  }
  hypomnesis::telemetry telemetry(std::uint32_t device_index, telemetry_field fields = {}) const {
    return ask<hmn_telemetry>(&hmn_telemetry_read, device_index, number(fields));
  }
  // What a process uses on a device; `pid` is as the driver counts it.
  hypomnesis::usage usage(std::uint32_t device_index, std::uint32_t pid) const {
    return ask<hmn_usage>(&hmn_usage_read, device_index, pid);
  }
  hypomnesis::usage own_usage(std::uint32_t device_index) const {
    return ask<hmn_usage>(&hmn_usage_read_self, device_index);
  }

  // What could not be read is a diagnostic of the snapshot, and no error here.
  snapshot take(const snapshot_options& options = {}) const {
    const auto held = native();
    auto c_options = detail::sized<hmn_snapshot_options>();
    c_options.collect = number(options.collect);
    if (options.device_index) c_options.flags |= HMN_SNAPSHOT_ONE_DEVICE;
    if (options.pid) c_options.flags |= HMN_SNAPSHOT_ONE_PROCESS;
    c_options.device_index = options.device_index.value_or(0);
    c_options.pid = options.pid.value_or(0);
    c_options.deadline_ms = detail::milliseconds(options.deadline);
    hmn_snapshot* taken = nullptr;
    detail::perform(
        [&](hmn_error* e) { return hmn_snapshot_take(held.get(), &c_options, &taken, e); });
    return snapshot(taken);
  }
  snapshot take(part collect) const {
    snapshot_options options;
    options.collect = collect;
    return take(options);
  }

 private:
  static hmn_context* create(const context_options& options) {
    auto c_options = detail::sized<hmn_context_options>();
    c_options.flags = number(options.flags);
    c_options.deadline_ms = detail::milliseconds(options.deadline);
    c_options.stale_ms = detail::milliseconds(options.stale);
    c_options.open_deadline_ms = detail::milliseconds(options.open_deadline);
    c_options.max_age_ms = detail::milliseconds(options.max_age);
    c_options.idle_close_ms = detail::milliseconds(options.idle_close);
    c_options.backends_off = options.backends_off;
    hmn_context* made = nullptr;
    detail::perform([&](hmn_error* e) { return hmn_context_create(&c_options, &made, e); });
    return made;
  }
  void set(path_kind path, const char* value) {
    const auto held = native();
    detail::perform(
        [&](hmn_error* e) { return hmn_context_set_path(held.get(), number(path), value, e); });
  }
  detail::holder<hmn_context> holder_;
};

}  // namespace hypomnesis
#endif
