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

failure no_valid_value() {
  return {status::backend, source::pdh, {}, "Windows' counters have no valid value"};
}

// Why a sum has no bytes: no rows, or rows whose values are invalid.
failure not_counted(const wddm::segment_sum& sum) {
  if (sum.lacks_a_part()) return no_valid_value();
  return {status::unsupported, source::pdh, {}, "Windows has no counters of this adapter"};
}

failure no_counters() {
  return {status::unsupported, source::pdh, {}, "Windows' performance counters are left out"};
}

void diagnose(reading& r, slot number, std::uint32_t about, FieldSet field, const failure& why,
              std::optional<std::uint32_t> pid = {}) {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = field;
  d.device = number;
  d.pid = pid;
  r.diagnose(d);
}

result<memory_information> ask(const adapter& a, std::uint32_t segment) {
  memory_information out{untouched, untouched, 0, 0};
  const code c = a.memory->query_memory(a.memory.get(), 0, segment, &out);
  if (!is_failure(c) && (out.budget != untouched || out.used != untouched)) return out;
  const status what = c == device_removed ? status::device_lost : status::backend;
  return fail(what, "QueryVideoMemoryInfo failed", native_number(c));
}

}  // namespace

dxgi_source::dxgi_source(std::unique_ptr<wddm::counters> counters, create_factory create,
                         const std::optional<kernel_functions>& fn)
    : device_source(source::dxgi, calls::may_block),
      counters_(std::move(counters)),
      adapters_(create) {
  if (counters_) answer_for(bit_of(source::pdh));
  if (fn) kernel_.emplace(*fn);
}

result<void> dxgi_source::prepare(reading& r) {
  if (counters_) counters_->begin();
  if (!adapters_.are_old()) return {};
  // Counters may belong to adapters that are gone.
  if (counters_) counters_->close();
  why_.reset();
  result<void> done = adapters_.list(r);
  if (done) return done;
  adapters_.clear();
  why_ = done.why();
  return done;
}

void dxgi_source::close() noexcept {
  adapters_.clear();
  if (counters_) counters_->close();
}

slot dxgi_source::number_of(wddm::luid id) {
  const auto at =
      std::find_if(known_.begin(), known_.end(), [id](const known& k) { return k.id == id; });
  const auto number = static_cast<slot>(at - known_.begin());
  if (at == known_.end()) {
    if (!kernel_) kernel_.emplace();
    known_.push_back({id, kernel_->facts_of(id)});
  }
  return number;
}

device dxgi_source::who(slot number, const adapter& a) const {
  const kernel_facts& facts = known_[number].facts;
  device d;
  d.number = number;
  d.from = source::dxgi;
  d.state = state::ready;
  d.vendor = a.vendor;
  d.os_id = a.id;
  d.name.assign(a.name);
  d.driver_version.assign(a.driver_version);
  if (a.device != 0) d.pci_device = a.device;
  if (a.subsystem != 0) d.pci_subsystem = a.subsystem;
  if (facts.address) d.pci_bus_id = to_text(*facts.address);
  const result<own_memory> own = own_memory_of(a);
  const bool unified = dxgi::is_unified(a, own ? std::optional(*own) : std::nullopt);
  if (unified || facts.is_hybrid_integrated) {
    d.form = device_form::integrated;
  } else if (facts.is_hybrid_discrete) {
    d.form = device_form::discrete;
  }
  if (unified) {
    d.memory_kind = memory_kind::unified;
  } else if (a.dedicated != 0 && own) {
    d.memory_kind = memory_kind::dedicated;
    d.memory_total = a.dedicated;
  }
  return d;
}

result<void> dxgi_source::devices(std::vector<device>& out, reading&) {
  for (const adapter& a : adapters_.all()) {
    const slot number = number_of(a.id);
    out.push_back(who(number, a));
  }
  return {};
}

result<adapter*> dxgi_source::find(slot number) {
  for (adapter& a : adapters_.all()) {
    if (number < known_.size() && a.id == known_[number].id) return &a;
  }
  return failure{status::device_lost, source::dxgi, {}, "Windows no longer lists this adapter"};
}

result<own_memory> dxgi_source::own_memory_of(const adapter& a) const {
  if (!a.memory) {
    return fail(status::unsupported, "DXGI reports no budget of this adapter (no IDXGIAdapter3)",
                native_number(a.no_memory));
  }
  const auto local = ask(a, segment_local);
  if (!local) return local.why();
  const auto non_local = ask(a, segment_non_local);
  if (!non_local) return non_local.why();
  return own_memory{*local, *non_local};
}

bool dxgi_source::is_unified(const adapter& a) const {
  const result<own_memory> own = own_memory_of(a);
  return dxgi::is_unified(a, own ? std::optional(*own) : std::nullopt);
}

result<void> dxgi_source::memory(slot number, pools& out, reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  result<own_memory> own = own_memory_of(**a);
  if (!own) {
    if (own.why().code == status::device_lost) return own.why();
    diagnose(r, number, subject::pools, budget_field, own.why());
  }
  std::optional<wddm::adapter_memory> in_use;
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

result<wddm::loads> dxgi_source::loads_of(const adapter& a) {
  if (!counters_) return no_counters();
  wddm::loads out;
  if (result<void> ok = counters_->load(a.id, out); !ok) return ok.why();
  return out;
}

result<void> dxgi_source::telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  constexpr std::uint32_t reported_here =
      telemetry_field::gpu_busy_percent | telemetry_field::encoder_busy_percent |
      telemetry_field::decoder_busy_percent | telemetry_field::window_ns;
  const failure elsewhere{
      status::unsupported, source::pdh, {}, "not reported by Windows' counters"};
  if ((fields & reported_here) == 0) return elsewhere;
  if ((fields & ~reported_here) != 0) {
    diagnose(r, number, subject::telemetry, fields & ~reported_here, elsewhere);
  }
  const auto loads = loads_of(**a);
  if (!loads) return loads.why();
  out.from = source::pdh;
  out.sources = bit_of(source::pdh);
  out.gpu_busy_percent = loads->adapter.busiest();
  out.decoder_busy_percent = loads->adapter.percent[which::engine::decode];
  out.encoder_busy_percent = loads->adapter.percent[which::engine::encode];
  if (out.gpu_busy_percent) out.window_ns = loads->window_ns;
  if (!out.gpu_busy_percent && loads->lacks_a_value) return no_valid_value();
  if (!out.gpu_busy_percent) {
    return failure{status::empty, source::pdh, {}, "Windows counts no engine of this adapter"};
  }
  return {};
}

result<void> dxgi_source::metrics(slot number, bool, std::vector<metric>& out, reading&) {
  const auto a = find(number);
  if (!a) return a.why();
  const auto loads = loads_of(**a);
  if (!loads) return {};
  for (std::uint32_t kind = 0; kind < wddm::engine_kinds; ++kind) {
    const auto percent = loads->adapter.percent[kind];
    if (!percent) continue;
    metric m = measured(source::pdh, metric_id::engine_percent, kind, *percent);
    m.window_ns = loads->window_ns;
    out.push_back(m);
  }
  return {};
}

result<void> dxgi_source::processes(slot number, std::vector<usage>& out, reading& r) {
  const auto a = find(number);
  if (!a) return a.why();
  if (!counters_) return no_counters();
  std::vector<wddm::process_memory> all;
  if (result<void> ok = counters_->processes((*a)->id, all); !ok) return ok;
  // Rows are complete without load, which a first reading lacks.
  const auto loads = loads_of(**a);
  const bool unified = is_unified(**a);
  for (const wddm::process_memory& p : all) {
    usage row = to_usage(p, unified);
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
result<void> dxgi_source::own_usage(const adapter& a, usage& out) {
  const auto own = own_memory_of(a);
  if (!own) return own.why();
  fill_own(*own, dxgi::is_unified(a, *own), out);
  return {};
}

result<void> dxgi_source::listed_usage(const adapter& a, std::uint32_t pid, usage& out) {
  std::vector<wddm::process_memory> all;
  if (!counters_) return no_counters();
  if (result<void> ok = counters_->processes(a.id, all); !ok) return ok;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [pid](const wddm::process_memory& p) { return p.pid == pid; });
  if (found == all.end()) {
    return failure{
        status::no_process, source::pdh, {}, "Windows counts no such process on this adapter"};
  }
  out = to_usage(*found, is_unified(a));
  if (const auto loads = loads_of(a)) add_load(*loads, out);
  return {};
}

result<void> dxgi_source::process(slot number, std::uint32_t pid, bool self, usage& out, reading&) {
  const auto a = find(number);
  if (!a) return a.why();
  if (self) {
    result<void> own = own_usage(**a, out);
    if (own || own.why().code == status::device_lost) return own;
  }
  result<void> listed = listed_usage(**a, pid, out);
  if (listed || listed.why().code == status::no_process) return listed;
  if (!kernel_) kernel_.emplace();
  const auto reported = kernel_->usage_of((*a)->id, pid);
  if (!reported) return listed;
  fill_from_kernel(*reported, is_unified(**a), out);
  return {};
}

source_state dxgi_source::describe(source which) const {
  if (which == source::pdh) {
    if (counters_) return counters_->describe();
    source_state off;
    off.state = state::off;
    off.why = no_counters();
    return off;
  }
  source_state now;
  now.why = why_.value_or(failure{status::ok, source::dxgi, {}, {}});
  if (!why_) {
    now.state = adapters_.are_old() ? state::unknown : state::ready;
  } else {
    now.state = why_->code == status::no_source ? state::absent : state::unreadable;
  }
  return now;
}

}  // namespace hmn::dxgi

namespace hmn {

std::unique_ptr<device_source> make_dxgi(std::unique_ptr<wddm::counters> counters) {
  return std::make_unique<dxgi::dxgi_source>(std::move(counters));
}

}  // namespace hmn
