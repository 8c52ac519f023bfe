// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/dxgi.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/dxgi/adapters.hpp"

namespace hmn::dxgi {
namespace {

constexpr FieldSet in_use_fields = pool_field::used | pool_field::free;
constexpr FieldSet budget_field = 1U << 5;  // HMN_POOL_HAS_BUDGET

Failure no_valid_value() {
  return {Status::backend, Source::pdh, {}, "Windows' counters have no valid value"};
}

// Why a sum has no bytes: no rows, or rows whose values are invalid.
Failure not_counted(const wddm::SegmentSum& sum) {
  if (sum.lacks_a_part()) return no_valid_value();
  return {Status::unsupported, Source::pdh, {}, "Windows has no counters of this adapter"};
}

Failure no_counters() {
  return {Status::unsupported, Source::pdh, {}, "Windows' performance counters are left out"};
}

void diagnose(Reading& r, Slot number, std::uint32_t about, FieldSet field, const Failure& why,
              std::optional<std::uint32_t> pid = {}) {
  if (!r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = field;
  d.device = number;
  d.pid = pid;
  r.diagnose(d);
}

Result<MemoryInformation> ask(const Adapter& a, std::uint32_t segment) {
  MemoryInformation out{untouched, untouched, 0, 0};
  const Code c = a.memory->query_memory(a.memory.get(), 0, segment, &out);
  if (!is_failure(c) && (out.budget != untouched || out.used != untouched)) return out;
  const Status what = c == device_removed ? Status::device_lost : Status::backend;
  return fail(what, "QueryVideoMemoryInfo failed", native_number(c));
}

}  // namespace

DxgiSource::DxgiSource(std::unique_ptr<wddm::Counters> counters, CreateFactory create,
                       const std::optional<KernelFunctions>& fn)
    : DeviceSource(Source::dxgi, Calls::may_block),
      counters_(std::move(counters)),
      adapters_(create) {
  if (counters_) answer_for(bit_of(Source::pdh));
  if (fn) kernel_.emplace(*fn);
}

Result<void> DxgiSource::prepare(Reading& r) {
  if (counters_) counters_->begin();
  if (!adapters_.are_old()) return {};
  // Counters may belong to adapters that are gone.
  if (counters_) counters_->close();
  why_.reset();
  Result<void> done = adapters_.list(r);
  if (done) return done;
  adapters_.clear();
  why_ = done.why();
  return done;
}

void DxgiSource::close() noexcept {
  adapters_.clear();
  if (counters_) counters_->close();
}

Slot DxgiSource::number_of(wddm::Luid id) {
  const auto at =
      std::find_if(known_.begin(), known_.end(), [id](const Known& k) { return k.id == id; });
  const auto number = static_cast<Slot>(at - known_.begin());
  if (at == known_.end()) {
    if (!kernel_) kernel_.emplace();
    known_.push_back({id, kernel_->facts_of(id)});
  }
  return number;
}

Device DxgiSource::who(Slot number, const Adapter& a) const {
  const KernelFacts& facts = known_[number].facts;
  Device d;
  d.number = number;
  d.from = Source::dxgi;
  d.state = State::ready;
  d.vendor = a.vendor;
  d.os_id = a.id;
  d.name.assign(a.name);
  d.driver_version.assign(a.driver_version);
  if (a.device != 0) d.pci_device = a.device;
  if (a.subsystem != 0) d.pci_subsystem = a.subsystem;
  if (facts.address) d.pci_bus_id = to_text(*facts.address);
  const Result<OwnMemory> own = own_memory_of(a);
  const bool unified = dxgi::is_unified(a, own ? std::optional(*own) : std::nullopt);
  if (unified || facts.is_hybrid_integrated) {
    d.form = DeviceForm::integrated;
  } else if (facts.is_hybrid_discrete) {
    d.form = DeviceForm::discrete;
  }
  if (unified) {
    d.memory_kind = MemoryKind::unified;
  } else if (a.dedicated != 0 && own) {
    d.memory_kind = MemoryKind::dedicated;
    d.memory_total = a.dedicated;
  }
  return d;
}

Result<void> DxgiSource::devices(std::vector<Device>& out, Reading&) {
  for (const Adapter& a : adapters_.all()) {
    const Slot number = number_of(a.id);
    out.push_back(who(number, a));
  }
  return {};
}

Result<Adapter*> DxgiSource::find(Slot number) {
  for (Adapter& a : adapters_.all()) {
    if (number < known_.size() && a.id == known_[number].id) return &a;
  }
  return Failure{Status::device_lost, Source::dxgi, {}, "Windows no longer lists this adapter"};
}

Result<OwnMemory> DxgiSource::own_memory_of(const Adapter& a) const {
  if (!a.memory) {
    return fail(Status::unsupported, "DXGI reports no budget of this adapter (no IDXGIAdapter3)",
                native_number(a.no_memory));
  }
  const auto local = ask(a, segment_local);
  if (!local) return local.why();
  const auto non_local = ask(a, segment_non_local);
  if (!non_local) return non_local.why();
  return OwnMemory{*local, *non_local};
}

bool DxgiSource::is_unified(const Adapter& a) const {
  const Result<OwnMemory> own = own_memory_of(a);
  return dxgi::is_unified(a, own ? std::optional(*own) : std::nullopt);
}

Result<void> DxgiSource::memory(Slot number, Pools& out, Reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  Result<OwnMemory> own = own_memory_of(**a);
  if (!own) {
    if (own.why().code == Status::device_lost) return own.why();
    diagnose(r, number, subject::pools, budget_field, own.why());
  }
  std::optional<wddm::AdapterMemory> in_use;
  if (auto reported = counters_ ? counters_->memory((*a)->id) : no_counters()) {
    in_use = *reported;
    if (!reported->dedicated.bytes())
      diagnose(r, number, subject::pools, in_use_fields, not_counted(reported->dedicated));
  } else {
    diagnose(r, number, subject::pools, in_use_fields, reported.why());
  }
  add_pools(**a, own ? std::optional(*own) : std::nullopt, in_use ? &*in_use : nullptr, out);
  return {};
}

Result<wddm::Loads> DxgiSource::loads_of(const Adapter& a) {
  if (!counters_) return no_counters();
  wddm::Loads out;
  if (Result<void> ok = counters_->load(a.id, out); !ok) return ok.why();
  return out;
}

Result<void> DxgiSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  constexpr std::uint32_t reported_here =
      telemetry_field::gpu_busy_percent | telemetry_field::encoder_busy_percent |
      telemetry_field::decoder_busy_percent | telemetry_field::window_ns;
  const Failure elsewhere{
      Status::unsupported, Source::pdh, {}, "not reported by Windows' counters"};
  if ((fields & reported_here) == 0) return elsewhere;
  if ((fields & ~reported_here) != 0) {
    diagnose(r, number, subject::telemetry, fields & ~reported_here, elsewhere);
  }
  const auto loads = loads_of(**a);
  if (!loads) return loads.why();
  out.from = Source::pdh;
  out.sources = bit_of(Source::pdh);
  out.gpu_busy_percent = loads->adapter.busiest();
  out.decoder_busy_percent = loads->adapter.percent[which::engine::decode];
  out.encoder_busy_percent = loads->adapter.percent[which::engine::encode];
  if (out.gpu_busy_percent) out.window_ns = loads->window_ns;
  if (!out.gpu_busy_percent && loads->lacks_a_value) return no_valid_value();
  if (!out.gpu_busy_percent) {
    return Failure{Status::empty, Source::pdh, {}, "Windows counts no engine of this adapter"};
  }
  return {};
}

Result<void> DxgiSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading&) {
  const auto a = find(number);
  if (!a) return a.why();
  const auto loads = loads_of(**a);
  if (!loads) return {};
  for (std::uint32_t kind = 0; kind < wddm::engine_kinds; ++kind) {
    const auto percent = loads->adapter.percent[kind];
    if (!percent) continue;
    Metric m = measured(Source::pdh, MetricId::engine_percent, kind, *percent);
    m.window_ns = loads->window_ns;
    out.push_back(m);
  }
  return {};
}

Result<void> DxgiSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  if (!counters_) return no_counters();
  std::vector<wddm::ProcessMemory> all;
  if (Result<void> ok = counters_->processes((*a)->id, all); !ok) return ok;
  // Rows are complete without load, which a first reading lacks.
  const auto loads = loads_of(**a);
  const bool unified = is_unified(**a);
  for (const wddm::ProcessMemory& p : all) {
    Usage row = to_usage(p, unified);
    if (loads) add_load(*loads, row);
    if (!row.used) {
      diagnose(r, number, subject::processes, usage_field::used, not_counted(p.dedicated_committed),
               p.pid);
    }
    out.push_back(std::move(row));
  }
  return {};
}

// One call has the caller's exact values; only the counters have its commitments.
Result<void> DxgiSource::own_usage(const Adapter& a, Usage& out) {
  const auto own = own_memory_of(a);
  if (!own) return own.why();
  fill_own(*own, dxgi::is_unified(a, *own), out);
  return {};
}

Result<void> DxgiSource::listed_usage(const Adapter& a, std::uint32_t pid, Usage& out) {
  std::vector<wddm::ProcessMemory> all;
  if (!counters_) return no_counters();
  if (Result<void> ok = counters_->processes(a.id, all); !ok) return ok;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [pid](const wddm::ProcessMemory& p) { return p.pid == pid; });
  if (found == all.end()) {
    return Failure{
        Status::no_process, Source::pdh, {}, "Windows counts no such process on this adapter"};
  }
  out = to_usage(*found, is_unified(a));
  if (const auto loads = loads_of(a)) add_load(*loads, out);
  return {};
}

Result<void> DxgiSource::process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading&) {
  const auto a = find(number);
  if (!a) return a.why();
  if (self) {
    Result<void> own = own_usage(**a, out);
    if (own || own.why().code == Status::device_lost) return own;
  }
  Result<void> listed = listed_usage(**a, pid, out);
  if (listed || listed.why().code == Status::no_process) return listed;
  if (!kernel_) kernel_.emplace();
  const auto reported = kernel_->usage_of((*a)->id, pid);
  if (!reported) return listed;
  fill_from_kernel(*reported, is_unified(**a), out);
  return {};
}

SourceState DxgiSource::describe(Source which) const {
  if (which == Source::pdh) {
    if (counters_) return counters_->describe();
    SourceState off;
    off.state = State::off;
    off.why = no_counters();
    return off;
  }
  SourceState now;
  now.why = why_.value_or(Failure{Status::ok, Source::dxgi, {}, {}});
  if (!why_) {
    now.state = adapters_.are_old() ? State::unknown : State::ready;
  } else {
    now.state = why_->code == Status::no_source ? State::absent : State::unreadable;
  }
  return now;
}

}  // namespace hmn::dxgi

namespace hmn {

std::unique_ptr<DeviceSource> make_dxgi(std::unique_ptr<wddm::Counters> counters) {
  return std::make_unique<dxgi::DxgiSource>(std::move(counters));
}

}  // namespace hmn
