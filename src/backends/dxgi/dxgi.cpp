// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/dxgi.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/dxgi/adapters.hpp"

namespace hmn::dxgi {
namespace {

constexpr FieldSet used_fields = pool_field::used | pool_field::free;
constexpr FieldSet budget_field = 1U << 5;  // HMN_POOL_HAS_BUDGET

Failure make_invalid_value_failure() {
  return {Status::backend, Source::pdh, {}, "Windows' counters have no valid value"};
}

// Why a sum has no bytes: no rows, or rows whose values are invalid.
Failure make_uncounted_failure(const wddm::SegmentSum& sum) {
  if (sum.is_incomplete()) return make_invalid_value_failure();
  return {Status::unsupported, Source::pdh, {}, "Windows has no counters of this adapter"};
}

Failure make_no_counters_failure() {
  return {Status::unsupported, Source::pdh, {}, "Windows' performance counters are left out"};
}

void diagnose(Reading& reading, Slot slot, std::uint32_t subject, FieldSet field,
              const Failure& failure, std::optional<std::uint32_t> pid = {}) {
  if (!reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = field;
  diagnostic.device = slot;
  diagnostic.pid = pid;
  reading.diagnose(diagnostic);
}

Result<MemoryInformation> query_segment(const Adapter& adapter, std::uint32_t segment) {
  MemoryInformation memory{untouched, untouched, 0, 0};
  const Code code = adapter.memory->query_memory(adapter.memory.get(), 0, segment, &memory);
  if (!is_failure(code) && (memory.budget != untouched || memory.used != untouched)) return memory;
  const Status status = code == device_removed ? Status::device_lost : Status::backend;
  return fail(status, "QueryVideoMemoryInfo failed", native_number(code));
}

}  // namespace

DxgiSource::DxgiSource(std::unique_ptr<wddm::Counters> counters, CreateFactory create,
                       const std::optional<KernelFunctions>& fn)
    : DeviceSource(Source::dxgi, CallBehavior::may_block),
      counters_(std::move(counters)),
      adapters_(create) {
  if (counters_) add_answered_sources(source_bit(Source::pdh));
  if (fn) kernel_.emplace(*fn);
}

Result<void> DxgiSource::prepare(Reading& reading) {
  if (counters_) counters_->begin();
  if (!adapters_.is_stale()) return {};
  // Counters may belong to adapters that are gone.
  if (counters_) counters_->close();
  failure_.reset();
  Result<void> result = adapters_.list(reading);
  if (result) return result;
  adapters_.clear();
  failure_ = result.failure();
  return result;
}

void DxgiSource::close() noexcept {
  adapters_.clear();
  if (counters_) counters_->close();
}

Slot DxgiSource::find_or_add_slot(wddm::Luid id) {
  const auto it = std::find_if(known_adapters_.begin(), known_adapters_.end(),
                               [id](const KnownAdapter& k) { return k.id == id; });
  const auto number = static_cast<Slot>(it - known_adapters_.begin());
  if (it == known_adapters_.end()) {
    if (!kernel_) kernel_.emplace();
    known_adapters_.push_back({id, kernel_->read_facts(id)});
  }
  return number;
}

Device DxgiSource::make_device(Slot slot, const Adapter& adapter) const {
  const KernelFacts& facts = known_adapters_[slot].facts;
  Device device;
  device.slot = slot;
  device.source = Source::dxgi;
  device.state = State::ready;
  device.vendor = adapter.vendor;
  device.os_id = adapter.id;
  device.name.assign(adapter.name);
  device.driver_version.assign(adapter.driver_version);
  if (adapter.device != 0) device.pci_device = adapter.device;
  if (adapter.subsystem != 0) device.pci_subsystem = adapter.subsystem;
  if (facts.address) device.pci_bus_id = to_text(*facts.address);
  const Result<OwnMemory> own_memory = read_own_memory(adapter);
  const bool unified =
      dxgi::is_unified(adapter, own_memory ? std::optional(*own_memory) : std::nullopt);
  if (unified || facts.is_hybrid_integrated) {
    device.form = DeviceForm::integrated;
  } else if (facts.is_hybrid_discrete) {
    device.form = DeviceForm::discrete;
  }
  if (unified) {
    device.memory_kind = MemoryKind::unified;
  } else if (adapter.dedicated != 0 && own_memory) {
    device.memory_kind = MemoryKind::dedicated;
    device.memory_total = adapter.dedicated;
  }
  return device;
}

Result<void> DxgiSource::devices(std::vector<Device>& out, Reading&) {
  for (const Adapter& adapter : adapters_.all()) {
    const Slot slot = find_or_add_slot(adapter.id);
    out.push_back(make_device(slot, adapter));
  }
  return {};
}

Result<Adapter*> DxgiSource::find(Slot slot) {
  for (Adapter& adapter : adapters_.all()) {
    if (slot < known_adapters_.size() && adapter.id == known_adapters_[slot].id)
      return &adapter;
  }
  return Failure{Status::device_lost, Source::dxgi, {}, "Windows no longer lists this adapter"};
}

Result<OwnMemory> DxgiSource::read_own_memory(const Adapter& adapter) const {
  if (!adapter.memory) {
    return fail(Status::unsupported, "DXGI reports no budget of this adapter (no IDXGIAdapter3)",
                native_number(adapter.memory_code));
  }
  const auto local = query_segment(adapter, segment_local);
  if (!local) return local.failure();
  const auto non_local = query_segment(adapter, segment_non_local);
  if (!non_local) return non_local.failure();
  return OwnMemory{*local, *non_local};
}

bool DxgiSource::is_unified(const Adapter& adapter) const {
  const Result<OwnMemory> own_memory = read_own_memory(adapter);
  return dxgi::is_unified(adapter, own_memory ? std::optional(*own_memory) : std::nullopt);
}

Result<void> DxgiSource::memory(Slot slot, PoolList& out, Reading& reading) {
  const auto adapter = find(slot);
  if (!adapter) return adapter.failure();
  Result<OwnMemory> own_memory = read_own_memory(**adapter);
  if (!own_memory) {
    if (own_memory.failure().code == Status::device_lost) return own_memory.failure();
    diagnose(reading, slot, subject::pools, budget_field, own_memory.failure());
  }
  std::optional<wddm::AdapterMemory> used_memory;
  if (auto result = counters_ ? counters_->memory((*adapter)->id) : make_no_counters_failure()) {
    used_memory = *result;
    if (!result->dedicated.bytes())
      diagnose(reading, slot, subject::pools, used_fields,
               make_uncounted_failure(result->dedicated));
  } else {
    diagnose(reading, slot, subject::pools, used_fields, result.failure());
  }
  add_pools(**adapter, own_memory ? std::optional(*own_memory) : std::nullopt,
            used_memory ? &*used_memory : nullptr, out);
  return {};
}

Result<wddm::LoadReading> DxgiSource::read_loads(const Adapter& adapter) {
  if (!counters_) return make_no_counters_failure();
  wddm::LoadReading loads;
  if (Result<void> result = counters_->load(adapter.id, loads); !result) return result.failure();
  return loads;
}

Result<void> DxgiSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                   Reading& reading) {
  const auto adapter = find(slot);
  if (!adapter) return adapter.failure();
  constexpr std::uint32_t supported_fields =
      telemetry_field::gpu_busy_percent | telemetry_field::encoder_busy_percent |
      telemetry_field::decoder_busy_percent | telemetry_field::window_ns;
  const Failure failure{Status::unsupported, Source::pdh, {}, "not reported by Windows' counters"};
  if ((fields & supported_fields) == 0) return failure;
  if ((fields & ~supported_fields) != 0) {
    diagnose(reading, slot, subject::telemetry, fields & ~supported_fields, failure);
  }
  const auto loads = read_loads(**adapter);
  if (!loads) return loads.failure();
  out.source = Source::pdh;
  out.sources = source_bit(Source::pdh);
  out.gpu_busy_percent = loads->adapter.busiest_percent();
  out.decoder_busy_percent = loads->adapter.percent[metric_instance::engine::decode];
  out.encoder_busy_percent = loads->adapter.percent[metric_instance::engine::encode];
  if (out.gpu_busy_percent) out.window_ns = loads->window_ns;
  if (!out.gpu_busy_percent && loads->is_incomplete) return make_invalid_value_failure();
  if (!out.gpu_busy_percent) {
    return Failure{Status::empty, Source::pdh, {}, "Windows counts no engine of this adapter"};
  }
  return {};
}

Result<void> DxgiSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading&) {
  const auto adapter = find(slot);
  if (!adapter) return adapter.failure();
  const auto loads = read_loads(**adapter);
  if (!loads) return {};
  for (std::uint32_t kind = 0; kind < wddm::engine_kinds; ++kind) {
    const auto percent = loads->adapter.percent[kind];
    if (!percent) continue;
    Metric metric = make_value_metric(Source::pdh, MetricId::engine_percent, kind, *percent);
    metric.window_ns = loads->window_ns;
    out.push_back(metric);
  }
  return {};
}

Result<void> DxgiSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  const auto adapter = find(slot);
  if (!adapter) return adapter.failure();
  if (!counters_) return make_no_counters_failure();
  std::vector<wddm::ProcessMemory> rows;
  if (Result<void> result = counters_->processes((*adapter)->id, rows); !result) return result;
  // Rows are complete without the load, which a first reading does not have.
  const auto loads = read_loads(**adapter);
  const bool unified = is_unified(**adapter);
  for (const wddm::ProcessMemory& memory : rows) {
    Usage row = make_usage(memory, unified);
    if (loads) add_load(*loads, row);
    if (!row.used) {
      diagnose(reading, slot, subject::processes, usage_field::used,
               make_uncounted_failure(memory.dedicated_committed), memory.pid);
    }
    out.push_back(std::move(row));
  }
  return {};
}

// One call has the caller's exact values; only the counters have its commitments.
Result<void> DxgiSource::read_own_usage(const Adapter& adapter, Usage& out) {
  const auto own_memory = read_own_memory(adapter);
  if (!own_memory) return own_memory.failure();
  fill_own(*own_memory, dxgi::is_unified(adapter, *own_memory), out);
  return {};
}

Result<void> DxgiSource::read_listed_usage(const Adapter& adapter, std::uint32_t pid, Usage& out) {
  std::vector<wddm::ProcessMemory> rows;
  if (!counters_) return make_no_counters_failure();
  if (Result<void> result = counters_->processes(adapter.id, rows); !result) return result;
  const auto it = std::find_if(rows.begin(), rows.end(),
                               [pid](const wddm::ProcessMemory& p) { return p.pid == pid; });
  if (it == rows.end()) {
    return Failure{
        Status::no_process, Source::pdh, {}, "Windows counts no such process on this adapter"};
  }
  out = make_usage(*it, is_unified(adapter));
  if (const auto loads = read_loads(adapter)) add_load(*loads, out);
  return {};
}

Result<void> DxgiSource::process(Slot slot, std::uint32_t pid, bool self, Usage& out, Reading&) {
  const auto adapter = find(slot);
  if (!adapter) return adapter.failure();
  if (self) {
    Result<void> result = read_own_usage(**adapter, out);
    if (result || result.failure().code == Status::device_lost) return result;
  }
  Result<void> result = read_listed_usage(**adapter, pid, out);
  if (result || result.failure().code == Status::no_process) return result;
  if (!kernel_) kernel_.emplace();
  const auto kernel_usage = kernel_->read_usage((*adapter)->id, pid);
  if (!kernel_usage) return result;
  fill_from_kernel(*kernel_usage, is_unified(**adapter), out);
  return {};
}

SourceState DxgiSource::describe(Source source) const {
  if (source == Source::pdh) {
    if (counters_) return counters_->describe();
    SourceState disabled;
    disabled.state = State::off;
    disabled.failure = make_no_counters_failure();
    return disabled;
  }
  SourceState current;
  current.failure = failure_.value_or(Failure{Status::ok, Source::dxgi, {}, {}});
  if (!failure_) {
    current.state = adapters_.is_stale() ? State::unknown : State::ready;
  } else {
    current.state = failure_->code == Status::no_source ? State::absent : State::unreadable;
  }
  return current;
}

}  // namespace hmn::dxgi

namespace hmn {

std::unique_ptr<DeviceSource> make_dxgi(std::unique_ptr<wddm::Counters> counters) {
  return std::make_unique<dxgi::DxgiSource>(std::move(counters));
}

}  // namespace hmn
