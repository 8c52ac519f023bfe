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

inline constexpr FailureOf fail{Source::metal};

inline void diagnose(const Failure& why, std::uint32_t about, FieldSet fields, Slot number,
                     Reading& r) {
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = number;
  r.diagnose(d);
}

// Autorelease pool, which frees temporary Metal objects at its end.
class ObjectPool {
 public:
  explicit ObjectPool(const MetalCalls& m) : m_(m), token_(m.open_pool()) {}
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ~ObjectPool() { m_.close_pool(token_); }

 private:
  const MetalCalls& m_;
  void* token_;
};

MetalDevice read_device(const MetalCalls& m, Cf device) {
  return {m.ask_number(device, m.selector("registryID")),
          m.ask_number(device, m.selector("recommendedMaxWorkingSetSize"))};
}

constexpr std::string_view ledger_name = "graphics_footprint";
constexpr std::size_t most_kinds = 512;
constexpr std::size_t most_processes = 1U << 20;

// The kernel expects the pid in a pointer argument.
void* as_argument(std::uint32_t pid) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pid));
}

Usage row_of(std::uint32_t pid, std::uint64_t bytes) {
  Usage row;
  row.pid = pid;
  row.from = Source::metal;
  row.accounting = Accounting::resident;
  row.used = row.resident = bytes;
  return row;
}

// What a walk over all processes could not see.
struct Coverage {
  std::uint32_t seen = 0;
  std::uint32_t refused = 0;
  std::uint32_t failed = 0;
  std::uint32_t not_reached = 0;
};

void diagnose_gap(std::uint32_t count, const Failure& why, Slot number, Reading& r) {
  if (count == 0 || !r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = why;
  d.about = subject::processes;
  d.device = number;
  d.unreadable_processes = count;
  r.diagnose(d);
}

void diagnose(const Coverage& c, Slot number, Reading& r) {
  diagnose_gap(c.refused,
               fail(Status::permission, {c.refused, " of ", c.seen,
                                         " processes cannot be inspected; root sees what those of "
                                         "other users use"}),
               number, r);
  diagnose_gap(
      c.failed,
      fail(Status::backend, {c.failed, " of ", c.seen, " processes could not be inspected"}),
      number, r);
  diagnose_gap(
      c.not_reached,
      fail(Status::timeout, {c.not_reached, " processes were not reached before the deadline"}),
      number, r);
}

namespace bit = telemetry_field;

// Without a GPU sensor, the warmest one of the chip that contains the GPU.
std::optional<double> warmest(const std::vector<Thermometer>& all, bool& is_of_chip) {
  const auto gpu = highest(all, Place::gpu);
  is_of_chip = !gpu;
  return gpu ? gpu : highest(all, Place::chip);
}

constexpr FieldSet reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                        bit::power_watts, bit::core_clock_mhz};

FieldSet present(const Telemetry& t) {
  return (t.gpu_busy_percent ? bit::gpu_busy_percent : 0) |
         (t.temperature_celsius ? bit::temperature_celsius : 0) |
         (t.power_watts ? bit::power_watts : 0) | (t.core_clock_mhz ? bit::core_clock_mhz : 0);
}

}  // namespace

// CoreFoundation, Metal and IOKit need service ports that a forked process lacks; some of them kill
// it at the first call.
Result<void> MetalSource::probe() {
  if (!mach::is_forked_only(k_, platform::current_pid())) return {};
  Result<void> forked = fail(Status::state,
                             "macOS does not let a process that was forked use its frameworks "
                             "before it calls exec");
  settle(forked);
  return forked;
}

Result<void> MetalSource::open(Reading& r) {
  if (frameworks_) return {};
  r.opening();
  Result<Frameworks> loaded = load_();
  if (loaded) {
    frameworks_ = *loaded;
    chip_ = mach::text_of(k_, "machdep.cpu.brand_string");
    condition_.version = mach::text_of(k_, "kern.osproductversion");
    is_apple_ = chip_.view().starts_with("Apple");
    budgets_.open(*frameworks_, is_apple_);
    if (is_apple_) {
      clocks_ = find_clocks(*frameworks_);
      report_.open(*frameworks_);
      sensors_.open(*frameworks_);
    }
  }
  r.opened();
  if (!loaded) return loaded.why();
  return {};
}

Result<void> MetalSource::prepare(Reading& r) {
  rates_.reset();
  temperatures_.reset();
  Result<void> ready = probe();
  if (ready) ready = open(r);
  if (ready) {
    Result<std::vector<Accelerator>> found = find_accelerators(*frameworks_);
    if (found) {
      accelerators_ = std::move(*found);
    } else {
      ready = found.why();
    }
  }
  settle(ready);
  return ready;
}

Slot MetalSource::slot_of(std::uint64_t id) {
  const auto at = std::find(known_.begin(), known_.end(), id);
  const auto number = static_cast<Slot>(at - known_.begin());
  if (at == known_.end()) known_.push_back(id);
  return number;
}

bool MetalSource::is_unified(const Accelerator& a) const {
  return is_apple_ || (a.card && a.card->vendor == vendor::intel);
}

Device MetalSource::identity_of(const Accelerator& a, std::uint32_t index) const {
  Device who;
  who.from = Source::metal;
  who.state = State::ready;
  who.driver_index = index;
  who.os_id = a.id;
  who.driver_version.assign(condition_.version.view());
  who.memory_kind = is_unified(a) ? MemoryKind::unified : MemoryKind::dedicated;
  if (is_apple_) {
    who.vendor = vendor::apple;
    who.form = a.is_agx() ? DeviceForm::integrated : DeviceForm::virtual_device;
    who.name.assign(chip_.view());
  } else if (a.card) {
    who.vendor = a.card->vendor;
    who.form = is_unified(a) ? DeviceForm::integrated : DeviceForm::discrete;
    who.name.assign(a.card->model);
    who.pci_bus_id = a.card->address;
    if (a.card->device != 0) who.pci_device = a.card->device;
    if (a.card->subsystem != 0) who.pci_subsystem = a.card->subsystem;
  } else {
    who.memory_kind = MemoryKind::unknown;
  }
  return who;
}

Result<void> MetalSource::devices(std::vector<Device>& out, Reading&) {
  std::uint32_t index = 0;
  for (const Accelerator& a : accelerators_) {
    Device who = identity_of(a, index++);
    who.number = slot_of(a.id);
    out.push_back(who);
  }
  return {};
}

Result<const Accelerator*> MetalSource::find(Slot number) const {
  if (number >= known_.size()) return fail(Status::no_device, "IOKit never listed this GPU");
  for (const Accelerator& a : accelerators_) {
    if (a.id == known_[number]) return &a;
  }
  return fail(Status::device_lost, "IOKit does not list this GPU any more");
}

const Rates& MetalSource::now() {
  if (!rates_) rates_ = history_.add(report_.read(), clocks_);
  return *rates_;
}

const std::vector<Thermometer>& MetalSource::temperatures() {
  if (!temperatures_) temperatures_ = sensors_.read();
  return *temperatures_;
}

void MetalSource::close() noexcept {
  rates_.reset();
  temperatures_.reset();
  accelerators_.clear();
  history_.clear();
  sensors_.close();
  report_.close();
  budgets_.close();
  frameworks_.reset();
}

void MetalDevices::open(const Frameworks& f, bool with_default) {
  close();
  f_ = &f;
  if (!f.has_metal) return;
  const ObjectPool pool(f.metal);
  list_ = {f.core, f.metal.copy_all_devices()};
  const bool has_any = list_ && f.metal.ask_number(list_.get(), f.metal.selector("count")) > 0;
  if (!has_any && with_default) single_ = {f.core, f.metal.make_default_device()};
}

std::vector<MetalDevice> MetalDevices::read() const {
  std::vector<MetalDevice> all;
  if (f_ == nullptr || !f_->has_metal) return all;
  const MetalCalls& m = f_->metal;
  const ObjectPool pool(m);
  if (single_) all.push_back(read_device(m, single_.get()));
  const std::uint64_t count = list_ ? m.ask_number(list_.get(), m.selector("count")) : 0;
  for (unsigned long i = 0; i < count; ++i) {
    const Cf device = m.ask_at(list_.get(), m.selector("objectAtIndex:"), i);
    if (device != nullptr) all.push_back(read_device(m, device));
  }
  return all;
}

void MetalDevices::close() noexcept {
  list_ = {};
  single_ = {};
  f_ = nullptr;
}

// Matches by registry entry; if each side has one device, they are the same.
std::optional<std::uint64_t> MetalSource::budget_of(const Accelerator& a) const {
  const std::vector<MetalDevice> all = budgets_.read();
  for (const MetalDevice& d : all) {
    const bool is_only = all.size() == 1 && accelerators_.size() == 1;
    if ((d.id == a.id || is_only) && d.budget != 0) return d.budget;
  }
  return std::nullopt;
}

// The driver's use of RAM; the host source reports what is free.
Pool MetalSource::unified_pool(const Accelerator& a) const {
  Pool p;
  p.kind = PoolKind::unified;
  p.total = mach::number_of(k_, "hw.memsize");
  p.used = a.now.in_use ? a.now.in_use : a.now.allocated;
  if (p.used) p.accounting = a.now.in_use ? Accounting::resident : Accounting::allocated;
  return p;
}

Pool MetalSource::vram_pool(const Accelerator& a) const {
  Pool p;
  p.kind = PoolKind::vram;
  p.accounting = Accounting::allocated;
  p.total = a.vram_total;
  p.used = a.now.vram_used;
  p.free = a.now.vram_free;
  return p;
}

void MetalSource::explain(const Pool& p, const Accelerator& a, Slot number, Reading& r) const {
  const auto report = [&](bool is_there, FieldSet field, const char* why) {
    if (!is_there) diagnose(fail(Status::unsupported, why), subject::pools, field, number, r);
  };
  if (!r.wants_diagnostics()) return;
  report(p.total.has_value(), pool_field::total, "this GPU's memory size is not reported by macOS");
  report(p.used.has_value(), pool_field::used,
         a.now.is_reported ? "this GPU's driver counts no memory in use"
                           : "this GPU's driver publishes no statistics");
  report(p.free.has_value(), pool_field::free,
         p.kind == PoolKind::unified ? "unified memory: see the available memory of the host"
                                     : "free memory is not reported by this GPU's driver");
  report(p.budget.has_value(), pool_field::budget,
         frameworks_->has_metal ? "Metal has no such device for this process"
                                : "Metal is not on this system");
}

Result<void> MetalSource::memory(Slot number, Pools& out, Reading& r) {
  const auto found = find(number);
  if (!found) return found.why();
  const Accelerator& a = **found;
  Pool p = is_unified(a) ? unified_pool(a) : vram_pool(a);
  p.from = Source::metal;
  p.is_main = true;
  p.budget = budget_of(a);
  explain(p, a, number, r);
  out.add(p);
  return {};
}

Result<std::size_t> GraphicsLedger::find_place() {
  if (place_) return *place_;
  std::vector<mach::LedgerKind> kinds(most_kinds);
  int length = static_cast<int>(kinds.size());
  if (k_.ledger(mach::ledger_template_info, kinds.data(), &length, nullptr) != 0) {
    return fail(Status::backend, "the names of its ledgers are not reported by the kernel", errno);
  }
  for (std::size_t i = 0; i < kinds.size() && static_cast<int>(i) < length; ++i) {
    if (std::string_view(kinds[i].name, strnlen(kinds[i].name, sizeof kinds[i].name)) !=
        ledger_name) {
      continue;
    }
    place_ = i;
    return i;
  }
  return fail(Status::unsupported, "this macOS does not count graphics memory of processes");
}

Result<std::uint64_t> GraphicsLedger::used_by(std::uint32_t pid) {
  const Result<std::size_t> place = find_place();
  if (!place) return place.why();
  std::vector<mach::LedgerEntry> entries(*place + 1);
  int length = static_cast<int>(entries.size());
  if (k_.ledger(mach::ledger_entry_info, as_argument(pid), entries.data(), &length) != 0) {
    return mach::why_not(Source::metal, pid, "the graphics memory", errno);
  }
  if (length <= static_cast<int>(*place)) {
    return with_reason(Reason::not_understood,
                       fail(Status::backend, "the kernel gave a ledger that is too short"));
  }
  if (entries[*place].balance < 0) {
    return with_reason(
        Reason::implausible,
        fail(Status::backend, {"the kernel counts less than nothing for process ", pid}));
  }
  return static_cast<std::uint64_t>(entries[*place].balance);
}

Result<std::vector<int>> GraphicsLedger::processes() const {
  const int bytes = k_.list_pids(mach::all_pids, 0, nullptr, 0);
  if (bytes <= 0) return fail(Status::backend, "the kernel gave no list of processes", errno);
  // Processes may start in the meantime. A list that fills the buffer may be cut.
  std::vector<int> pids(static_cast<std::size_t>(bytes) / sizeof(int) + 64);
  for (; pids.size() < most_processes; pids.resize(pids.size() * 2)) {
    const auto capacity = pids.size() * sizeof(int);
    const int got = k_.list_pids(mach::all_pids, 0, pids.data(), static_cast<int>(capacity));
    if (got <= 0) return fail(Status::backend, "the kernel gave no list of processes", errno);
    if (static_cast<std::size_t>(got) >= capacity) continue;
    pids.resize(static_cast<std::size_t>(got) / sizeof(int));
    return pids;
  }
  return fail(Status::limit, "there are too many processes");
}

Result<void> MetalSource::can_attribute() const {
  if (accelerators_.size() == 1) return {};
  return with_reason(
      Reason::ambiguous,
      fail(Status::unsupported,
           "macOS counts a process' graphics memory, not of which of several GPUs it is"));
}

Result<void> MetalSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  if (const auto found = find(number); !found) return found.why();
  if (Result<void> can = can_attribute(); !can) return can;
  const Result<std::vector<int>> pids = ledger_.processes();
  if (!pids) return pids.why();
  Coverage c;
  for (const int pid : *pids) {
    if (pid <= 0) continue;
    ++c.seen;
    if (platform::monotonic_ns() >= r.deadline_ns()) {
      ++c.not_reached;
      continue;
    }
    const Result<std::uint64_t> used = ledger_.used_by(static_cast<std::uint32_t>(pid));
    if (used) {
      if (*used != 0) out.push_back(row_of(static_cast<std::uint32_t>(pid), *used));
      continue;
    }
    // This kernel has no such counter.
    if (used.why().code == Status::unsupported) return used.why();
    if (used.why().code == Status::no_process) --c.seen;
    if (used.why().code == Status::permission) ++c.refused;
    if (used.why().code == Status::backend) ++c.failed;
  }
  diagnose(c, number, r);
  return {};
}

Result<void> MetalSource::process(Slot number, std::uint32_t pid, bool, Usage& out, Reading&) {
  if (const auto found = find(number); !found) return found.why();
  if (Result<void> can = can_attribute(); !can) return can;
  const Result<std::uint64_t> used = ledger_.used_by(pid);
  if (!used) return used.why();
  out = row_of(pid, *used);
  return {};
}

void MetalSource::take_telemetry(const Accelerator& a, FieldSet fields, hmn::Telemetry& out) {
  if ((fields & bit::gpu_busy_percent) != 0) out.gpu_busy_percent = a.now.busy_percent;
  if (!is_apple_) return;
  if ((fields & bit::temperature_celsius) != 0) {
    bool is_of_chip = false;
    out.temperature_celsius = warmest(temperatures(), is_of_chip);
    if (out.temperature_celsius && is_of_chip) out.notes |= note::estimated;
  }
  if ((fields & bit::power_watts) != 0) out.power_watts = now().watts;
  if ((fields & bit::core_clock_mhz) != 0 && now().megahertz) {
    out.core_clock_mhz = static_cast<std::uint32_t>(*now().megahertz + 0.5);
  }
}

Failure MetalSource::why_absent(FieldSet field, const Accelerator& a) {
  if (field == bit::gpu_busy_percent) {
    return fail(Status::unsupported, a.now.is_reported
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
  const Rates& of = now();
  const bool is_first = of.window_ns == 0;
  return fail(is_first ? Status::empty : Status::unsupported,
              field == bit::power_watts ? of.no_watts : of.no_megahertz);
}

Result<void> MetalSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  const auto found = find(number);
  if (!found) return found.why();
  const Accelerator& a = **found;
  out = {};
  out.from = Source::metal;
  out.sources = bit_of(Source::metal);
  take_telemetry(a, fields, out);
  FieldSet left = fields & ~present(out);
  if (left == fields) {
    const auto* const asked = std::find_if(std::begin(reported_fields), std::end(reported_fields),
                                           [&](FieldSet one) { return (fields & one) != 0; });
    return why_absent(asked != std::end(reported_fields) ? *asked : fields, a);
  }
  if (!r.wants_diagnostics()) return {};
  for (const FieldSet one : reported_fields) {
    if ((left & one) != 0) diagnose(why_absent(one, a), subject::telemetry, one, number, r);
    left &= ~one;
  }
  if (left != 0) diagnose(why_absent(left, a), subject::telemetry, left, number, r);
  return {};
}

Result<void> MetalSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading&) {
  const auto found = find(number);
  if (!found) return found.why();
  const Statistics& s = (*found)->now;
  const auto add = [&](MetricId id, std::uint32_t instance, std::optional<double> value) {
    if (value) out.push_back(measured(Source::metal, id, instance, *value));
    return value.has_value();
  };
  add(MetricId::engine_percent, which::engine::unknown, s.busy_percent);
  add(MetricId::engine_percent, which::engine::graphics, s.renderer_percent);
  add(MetricId::engine_percent, which::engine::other, s.tiler_percent);
  if (!is_apple_) return {};
  add(MetricId::temperature, which::sensor::core, highest(temperatures(), Place::gpu));
  add(MetricId::temperature, which::sensor::package, highest(temperatures(), Place::chip));
  const Rates& counted = now();
  if (add(MetricId::power_watts, which::power_reading::average, counted.watts)) {
    out.back().window_ns = counted.window_ns;
  }
  if (add(MetricId::clock_mhz, which::clock::core, counted.megahertz)) {
    out.back().window_ns = counted.window_ns;
  }
  if (!clocks_.empty()) {
    add(MetricId::clock_limit_mhz, which::clock::core,
        *std::max_element(clocks_.begin(), clocks_.end()));
  }
  return {};
}

}  // namespace hmn::metal
