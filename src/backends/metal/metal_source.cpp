// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/metal_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "backends/shared/mach/facts.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"
#include "source/interface.hpp"

namespace hmn::metal {
namespace {

inline constexpr FailureFactory fail{Source::metal};

inline void diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields, Slot slot,
                     Reading& reading) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = fields;
  diagnostic.device = slot;
  reading.diagnose(diagnostic);
}

// Autorelease pool, which frees temporary Metal objects at its end.
class ObjectPool {
 public:
  explicit ObjectPool(const MetalCalls& metal) : metal_(metal), token_(metal.open_pool()) {}
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ~ObjectPool() { metal_.close_pool(token_); }

 private:
  const MetalCalls& metal_;
  void* token_;
};

MetalDevice read_device(const MetalCalls& metal, Cf device) {
  return {metal.get_number(device, metal.find_selector("registryID")),
          metal.get_number(device, metal.find_selector("recommendedMaxWorkingSetSize"))};
}

constexpr std::string_view ledger_name = "graphics_footprint";
constexpr std::size_t max_kinds = 512;
constexpr std::size_t max_processes = 1U << 20;

// The kernel expects the pid in a pointer argument.
void* encode_pid(std::uint32_t pid) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pid));
}

Usage make_row(std::uint32_t pid, std::uint64_t bytes) {
  Usage row;
  row.pid = pid;
  row.source = Source::metal;
  row.accounting = Accounting::resident;
  row.used = row.resident = bytes;
  return row;
}

// How many processes a scan reached, and why it missed the others.
struct Coverage {
  std::uint32_t total = 0;
  std::uint32_t refused = 0;
  std::uint32_t failed = 0;
  std::uint32_t skipped = 0;
};

void diagnose_gap(std::uint32_t count, const Failure& failure, Slot slot, Reading& reading) {
  if (count == 0 || !reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject::processes;
  diagnostic.device = slot;
  diagnostic.unreadable_processes = count;
  reading.diagnose(diagnostic);
}

void diagnose(const Coverage& coverage, Slot slot, Reading& reading) {
  diagnose_gap(coverage.refused,
               fail(Status::permission, {coverage.refused, " of ", coverage.total,
                                         " processes cannot be inspected; root sees what those of "
                                         "other users use"}),
               slot, reading);
  diagnose_gap(coverage.failed,
               fail(Status::backend,
                    {coverage.failed, " of ", coverage.total, " processes could not be inspected"}),
               slot, reading);
  diagnose_gap(
      coverage.skipped,
      fail(Status::timeout, {coverage.skipped, " processes were not reached before the deadline"}),
      slot, reading);
}

namespace bit = telemetry_field;

// Without a GPU sensor, the warmest one of the chip that contains the GPU.
std::optional<double> find_warmest(const std::vector<Thermometer>& all, bool& is_chip_wide) {
  const auto gpu = find_highest(all, SensorLocation::gpu);
  is_chip_wide = !gpu;
  return gpu ? gpu : find_highest(all, SensorLocation::chip);
}

constexpr FieldSet reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                        bit::power_watts, bit::core_clock_mhz};

FieldSet list_present_fields(const Telemetry& telemetry) {
  return (telemetry.gpu_busy_percent ? bit::gpu_busy_percent : 0) |
         (telemetry.temperature_celsius ? bit::temperature_celsius : 0) |
         (telemetry.power_watts ? bit::power_watts : 0) |
         (telemetry.core_clock_mhz ? bit::core_clock_mhz : 0);
}

}  // namespace

// CoreFoundation, Metal and IOKit need service ports that a forked process lacks; some of them kill
// it at the first call.
Result<void> MetalSource::probe() {
  if (!mach::is_forked_only(kernel_, platform::current_pid())) return {};
  Result<void> result = fail(Status::state,
                             "macOS does not let a process that was forked use its frameworks "
                             "before it calls exec");
  store_result(result);
  return result;
}

Result<void> MetalSource::open(Reading& reading) {
  if (frameworks_) return {};
  reading.begin_opening();
  Result<Frameworks> result = load_();
  if (result) {
    frameworks_ = *result;
    chip_ = mach::read_text(kernel_, "machdep.cpu.brand_string");
    source_state_.version = mach::read_text(kernel_, "kern.osproductversion");
    is_apple_ = chip_.view().starts_with("Apple");
    metal_devices_.open(*frameworks_, is_apple_);
    if (is_apple_) {
      clocks_ = find_clocks(*frameworks_);
      channel_reader_.open(*frameworks_);
      sensors_.open(*frameworks_);
    }
  }
  reading.end_opening();
  if (!result) return result.failure();
  return {};
}

Result<void> MetalSource::prepare(Reading& reading) {
  rates_.reset();
  temperatures_.reset();
  Result<void> ready = probe();
  if (ready) ready = open(reading);
  if (ready) {
    Result<std::vector<Accelerator>> accelerators = find_accelerators(*frameworks_);
    if (accelerators) {
      accelerators_ = std::move(*accelerators);
    } else {
      ready = accelerators.failure();
    }
  }
  store_result(ready);
  return ready;
}

Slot MetalSource::find_or_add_slot(std::uint64_t id) {
  const auto it = std::find(accelerator_ids_.begin(), accelerator_ids_.end(), id);
  const auto number = static_cast<Slot>(it - accelerator_ids_.begin());
  if (it == accelerator_ids_.end()) accelerator_ids_.push_back(id);
  return number;
}

bool MetalSource::is_unified(const Accelerator& accelerator) const {
  return is_apple_ || (accelerator.card && accelerator.card->vendor == vendor::intel);
}

Device MetalSource::describe_device(const Accelerator& accelerator, std::uint32_t index) const {
  Device device;
  device.source = Source::metal;
  device.state = State::ready;
  device.driver_index = index;
  device.os_id = accelerator.id;
  device.driver_version.assign(source_state_.version.view());
  device.memory_kind = is_unified(accelerator) ? MemoryKind::unified : MemoryKind::dedicated;
  if (is_apple_) {
    device.vendor = vendor::apple;
    device.form = accelerator.is_agx() ? DeviceForm::integrated : DeviceForm::virtual_device;
    device.name.assign(chip_.view());
  } else if (accelerator.card) {
    device.vendor = accelerator.card->vendor;
    device.form = is_unified(accelerator) ? DeviceForm::integrated : DeviceForm::discrete;
    device.name.assign(accelerator.card->model);
    device.pci_bus_id = accelerator.card->address;
    if (accelerator.card->device != 0) device.pci_device = accelerator.card->device;
    if (accelerator.card->subsystem != 0) device.pci_subsystem = accelerator.card->subsystem;
  } else {
    device.memory_kind = MemoryKind::unknown;
  }
  return device;
}

Result<void> MetalSource::devices(std::vector<Device>& out, Reading&) {
  std::uint32_t index = 0;
  for (const Accelerator& accelerator : accelerators_) {
    Device device = describe_device(accelerator, index++);
    device.slot = find_or_add_slot(accelerator.id);
    out.push_back(device);
  }
  return {};
}

Result<const Accelerator*> MetalSource::find(Slot slot) const {
  if (slot >= accelerator_ids_.size())
    return fail(Status::no_device, "IOKit never listed this GPU");
  for (const Accelerator& accelerator : accelerators_) {
    if (accelerator.id == accelerator_ids_[slot]) return &accelerator;
  }
  return fail(Status::device_lost, "IOKit does not list this GPU any more");
}

const Rates& MetalSource::current_rates() {
  if (!rates_) rates_ = history_.add(channel_reader_.read(), clocks_);
  return *rates_;
}

const std::vector<Thermometer>& MetalSource::read_temperatures() {
  if (!temperatures_) temperatures_ = sensors_.read();
  return *temperatures_;
}

void MetalSource::close() noexcept {
  rates_.reset();
  temperatures_.reset();
  accelerators_.clear();
  history_.clear();
  sensors_.close();
  channel_reader_.close();
  metal_devices_.close();
  frameworks_.reset();
}

void MetalDevices::open(const Frameworks& frameworks, bool use_default) {
  close();
  frameworks_ = &frameworks;
  if (!frameworks.has_metal) return;
  const ObjectPool pool(frameworks.metal);
  list_ = {frameworks.core, frameworks.metal.copy_all_devices()};
  const bool has_any = list_ && frameworks.metal.get_number(
                                    list_.get(), frameworks.metal.find_selector("count")) > 0;
  if (!has_any && use_default)
    default_device_ = {frameworks.core, frameworks.metal.make_default_device()};
}

std::vector<MetalDevice> MetalDevices::read() const {
  std::vector<MetalDevice> all;
  if (frameworks_ == nullptr || !frameworks_->has_metal) return all;
  const MetalCalls& metal = frameworks_->metal;
  const ObjectPool pool(metal);
  if (default_device_) all.push_back(read_device(metal, default_device_.get()));
  const std::uint64_t count =
      list_ ? metal.get_number(list_.get(), metal.find_selector("count")) : 0;
  for (unsigned long i = 0; i < count; ++i) {
    const Cf device = metal.get_item(list_.get(), metal.find_selector("objectAtIndex:"), i);
    if (device != nullptr) all.push_back(read_device(metal, device));
  }
  return all;
}

void MetalDevices::close() noexcept {
  list_ = {};
  default_device_ = {};
  frameworks_ = nullptr;
}

// Matches by registry entry; if each side has one device, they are the same.
std::optional<std::uint64_t> MetalSource::find_budget(const Accelerator& accelerator) const {
  const std::vector<MetalDevice> all = metal_devices_.read();
  for (const MetalDevice& device : all) {
    const bool is_only = all.size() == 1 && accelerators_.size() == 1;
    if ((device.id == accelerator.id || is_only) && device.budget != 0) return device.budget;
  }
  return std::nullopt;
}

// The driver's use of RAM; the host source reports what is free.
Pool MetalSource::make_unified_pool(const Accelerator& accelerator) const {
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.total = mach::read_number(kernel_, "hw.memsize");
  pool.used = accelerator.statistics.in_use ? accelerator.statistics.in_use
                                            : accelerator.statistics.allocated;
  if (pool.used)
    pool.accounting = accelerator.statistics.in_use ? Accounting::resident : Accounting::allocated;
  return pool;
}

Pool MetalSource::make_vram_pool(const Accelerator& accelerator) const {
  Pool pool;
  pool.kind = PoolKind::vram;
  pool.accounting = Accounting::allocated;
  pool.total = accelerator.vram_total;
  pool.used = accelerator.statistics.vram_used;
  pool.free = accelerator.statistics.vram_free;
  return pool;
}

void MetalSource::explain_missing_values(const Pool& pool, const Accelerator& accelerator,
                                         Slot slot, Reading& reading) const {
  const auto report = [&](bool is_known, FieldSet field, const char* reason) {
    if (!is_known)
      diagnose(fail(Status::unsupported, reason), subject::pools, field, slot, reading);
  };
  if (!reading.wants_diagnostics()) return;
  report(pool.total.has_value(), pool_field::total,
         "this GPU's memory size is not reported by macOS");
  report(pool.used.has_value(), pool_field::used,
         accelerator.statistics.is_reported ? "this GPU's driver counts no memory in use"
                                            : "this GPU's driver publishes no statistics");
  report(pool.free.has_value(), pool_field::free,
         pool.kind == PoolKind::unified ? "unified memory: see the available memory of the host"
                                        : "free memory is not reported by this GPU's driver");
  report(pool.budget.has_value(), pool_field::budget,
         frameworks_->has_metal ? "Metal has no such device for this process"
                                : "Metal is not on this system");
}

Result<void> MetalSource::memory(Slot slot, PoolList& out, Reading& reading) {
  const auto match = find(slot);
  if (!match) return match.failure();
  const Accelerator& accelerator = **match;
  Pool pool =
      is_unified(accelerator) ? make_unified_pool(accelerator) : make_vram_pool(accelerator);
  pool.source = Source::metal;
  pool.is_main = true;
  pool.budget = find_budget(accelerator);
  explain_missing_values(pool, accelerator, slot, reading);
  out.add(pool);
  return {};
}

Result<std::size_t> GraphicsLedger::find_entry_index() {
  if (entry_index_) return *entry_index_;
  std::vector<mach::LedgerKind> kinds(max_kinds);
  int length = static_cast<int>(kinds.size());
  if (kernel_.ledger(mach::ledger_template_info, kinds.data(), &length, nullptr) != 0) {
    return fail(Status::backend, "the names of its ledgers are not reported by the kernel", errno);
  }
  for (std::size_t i = 0; i < kinds.size() && static_cast<int>(i) < length; ++i) {
    if (std::string_view(kinds[i].name, strnlen(kinds[i].name, sizeof kinds[i].name)) !=
        ledger_name) {
      continue;
    }
    entry_index_ = i;
    return i;
  }
  return fail(Status::unsupported, "this macOS does not count graphics memory of processes");
}

Result<std::uint64_t> GraphicsLedger::read_used_bytes(std::uint32_t pid) {
  const Result<std::size_t> index = find_entry_index();
  if (!index) return index.failure();
  std::vector<mach::LedgerEntry> entries(*index + 1);
  int length = static_cast<int>(entries.size());
  if (kernel_.ledger(mach::ledger_entry_info, encode_pid(pid), entries.data(), &length) != 0) {
    return mach::make_process_failure(Source::metal, pid, "the graphics memory", errno);
  }
  if (length <= static_cast<int>(*index)) {
    return with_reason(Reason::not_understood,
                       fail(Status::backend, "the kernel gave a ledger that is too short"));
  }
  if (entries[*index].balance < 0) {
    return with_reason(
        Reason::implausible,
        fail(Status::backend, {"the kernel counts less than nothing for process ", pid}));
  }
  return static_cast<std::uint64_t>(entries[*index].balance);
}

Result<std::vector<int>> GraphicsLedger::list_processes() const {
  const int bytes = kernel_.list_pids(mach::all_pids, 0, nullptr, 0);
  if (bytes <= 0) return fail(Status::backend, "the kernel gave no list of processes", errno);
  // Processes may start in the meantime. A list that fills the buffer may be cut.
  std::vector<int> pids(static_cast<std::size_t>(bytes) / sizeof(int) + 64);
  for (; pids.size() < max_processes; pids.resize(pids.size() * 2)) {
    const auto capacity = pids.size() * sizeof(int);
    const int size = kernel_.list_pids(mach::all_pids, 0, pids.data(), static_cast<int>(capacity));
    if (size <= 0) return fail(Status::backend, "the kernel gave no list of processes", errno);
    if (static_cast<std::size_t>(size) >= capacity) continue;
    pids.resize(static_cast<std::size_t>(size) / sizeof(int));
    return pids;
  }
  return fail(Status::limit, "there are too many processes");
}

Result<void> MetalSource::check_attribution() const {
  if (accelerators_.size() == 1) return {};
  return with_reason(
      Reason::ambiguous,
      fail(Status::unsupported,
           "macOS reports a process's graphics memory, but not on which of several GPUs it is"));
}

Result<void> MetalSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  if (const auto match = find(slot); !match) return match.failure();
  if (Result<void> result = check_attribution(); !result) return result;
  const Result<std::vector<int>> pids = ledger_.list_processes();
  if (!pids) return pids.failure();
  Coverage coverage;
  for (const int pid : *pids) {
    if (pid <= 0) continue;
    ++coverage.total;
    if (platform::monotonic_ns() >= reading.deadline_ns()) {
      ++coverage.skipped;
      continue;
    }
    const Result<std::uint64_t> used = ledger_.read_used_bytes(static_cast<std::uint32_t>(pid));
    if (used) {
      if (*used != 0) out.push_back(make_row(static_cast<std::uint32_t>(pid), *used));
      continue;
    }
    // This kernel has no such counter.
    if (used.failure().code == Status::unsupported) return used.failure();
    if (used.failure().code == Status::no_process) --coverage.total;
    if (used.failure().code == Status::permission) ++coverage.refused;
    if (used.failure().code == Status::backend) ++coverage.failed;
  }
  diagnose(coverage, slot, reading);
  return {};
}

Result<void> MetalSource::process(Slot slot, std::uint32_t pid, bool, Usage& out, Reading&) {
  if (const auto match = find(slot); !match) return match.failure();
  if (Result<void> result = check_attribution(); !result) return result;
  const Result<std::uint64_t> used = ledger_.read_used_bytes(pid);
  if (!used) return used.failure();
  out = make_row(pid, *used);
  return {};
}

void MetalSource::read_telemetry(const Accelerator& accelerator, FieldSet fields,
                                 hmn::Telemetry& out) {
  if ((fields & bit::gpu_busy_percent) != 0)
    out.gpu_busy_percent = accelerator.statistics.busy_percent;
  if (!is_apple_) return;
  if ((fields & bit::temperature_celsius) != 0) {
    bool is_chip_wide = false;
    out.temperature_celsius = find_warmest(read_temperatures(), is_chip_wide);
    if (out.temperature_celsius && is_chip_wide) out.notes |= note::estimated;
  }
  if ((fields & bit::power_watts) != 0) out.power_watts = current_rates().watts;
  if ((fields & bit::core_clock_mhz) != 0 && current_rates().megahertz) {
    out.core_clock_mhz = static_cast<std::uint32_t>(*current_rates().megahertz + 0.5);
  }
}

Failure MetalSource::explain_missing_field(FieldSet field, const Accelerator& accelerator) {
  if (field == bit::gpu_busy_percent) {
    return fail(Status::unsupported, accelerator.statistics.is_reported
                                         ? "load is not reported by this GPU's driver"
                                         : "this GPU's driver publishes no statistics");
  }
  const bool is_counted = field == bit::power_watts || field == bit::core_clock_mhz;
  if (!is_apple_ || (field != bit::temperature_celsius && !is_counted)) {
    return fail(Status::unsupported, "macOS reports no such value of this GPU");
  }
  if (field == bit::temperature_celsius) {
    return fail(Status::unsupported, frameworks_->has_sensors
                                         ? "no sensor of this chip gave a temperature of the GPU"
                                         : "this macOS has no interface to the chip's sensors");
  }
  if (!frameworks_->has_report) {
    return fail(Status::unsupported, "this macOS has no libIOReport to count with");
  }
  const Rates& rates = current_rates();
  const bool is_first = rates.window_ns == 0;
  return fail(is_first ? Status::empty : Status::unsupported,
              field == bit::power_watts ? rates.no_watts_reason : rates.no_megahertz_reason);
}

Result<void> MetalSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                    Reading& reading) {
  const auto match = find(slot);
  if (!match) return match.failure();
  const Accelerator& accelerator = **match;
  out = {};
  out.source = Source::metal;
  out.sources = source_bit(Source::metal);
  read_telemetry(accelerator, fields, out);
  FieldSet left = fields & ~list_present_fields(out);
  if (left == fields) {
    const auto* const first_field =
        std::find_if(std::begin(reported_fields), std::end(reported_fields),
                     [&](FieldSet candidate) { return (fields & candidate) != 0; });
    return explain_missing_field(first_field != std::end(reported_fields) ? *first_field : fields,
                                 accelerator);
  }
  if (!reading.wants_diagnostics()) return {};
  for (const FieldSet field : reported_fields) {
    if ((left & field) != 0)
      diagnose(explain_missing_field(field, accelerator), subject::telemetry, field, slot,
               reading);
    left &= ~field;
  }
  if (left != 0)
    diagnose(explain_missing_field(left, accelerator), subject::telemetry, left, slot, reading);
  return {};
}

Result<void> MetalSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading&) {
  const auto match = find(slot);
  if (!match) return match.failure();
  const Statistics& statistics = (*match)->statistics;
  const auto add = [&](MetricId id, std::uint32_t instance, std::optional<double> value) {
    if (value) out.push_back(make_value_metric(Source::metal, id, instance, *value));
    return value.has_value();
  };
  add(MetricId::engine_percent, metric_instance::engine::unknown, statistics.busy_percent);
  add(MetricId::engine_percent, metric_instance::engine::graphics, statistics.renderer_percent);
  add(MetricId::engine_percent, metric_instance::engine::other, statistics.tiler_percent);
  if (!is_apple_) return {};
  add(MetricId::temperature, metric_instance::sensor::core,
      find_highest(read_temperatures(), SensorLocation::gpu));
  add(MetricId::temperature, metric_instance::sensor::package,
      find_highest(read_temperatures(), SensorLocation::chip));
  const Rates& rates = current_rates();
  if (add(MetricId::power_watts, metric_instance::power_reading::average, rates.watts)) {
    out.back().window_ns = rates.window_ns;
  }
  if (add(MetricId::clock_mhz, metric_instance::clock::core, rates.megahertz)) {
    out.back().window_ns = rates.window_ns;
  }
  if (!clocks_.empty()) {
    add(MetricId::clock_limit_mhz, metric_instance::clock::core,
        *std::max_element(clocks_.begin(), clocks_.end()));
  }
  return {};
}

}  // namespace hmn::metal
