// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/pdh.hpp"

#include <cstddef>
#include <utility>

#include "backends/pdh/query.hpp"
#include "platform/clock.hpp"

namespace hmn::pdh {
namespace {

constexpr counter of_adapters[] = {
    {u"\\GPU Adapter Memory(*)\\Dedicated Usage"},
    {u"\\GPU Adapter Memory(*)\\Shared Usage"},
};

// "Usage" of a process is its committed memory; counters of resident memory were added later.
constexpr counter of_processes[] = {
    {u"\\GPU Process Memory(*)\\Dedicated Usage"},
    {u"\\GPU Process Memory(*)\\Shared Usage"},
    {u"\\GPU Process Memory(*)\\Local Usage", false},
    {u"\\GPU Process Memory(*)\\Non Local Usage", false},
};
constexpr wddm::segment_sum wddm::process_memory::*process_values[] = {
    &wddm::process_memory::dedicated_committed,
    &wddm::process_memory::shared_committed,
    &wddm::process_memory::dedicated_resident,
    &wddm::process_memory::shared_resident,
};

constexpr counter of_engines[] = {{u"\\GPU Engine(*)\\Utilization Percentage"}};

}  // namespace

pdh_counters::pdh_counters() noexcept
    : adapters_{{of_adapters, as_whole}, false, {}},
      processes_{{of_processes, as_whole}, false, {}},
      engines_{{of_engines, as_real | uncapped}, false, {}} {}

void pdh_counters::begin() noexcept {
  for (object* o : {&adapters_, &processes_, &engines_}) o->is_fresh = false;
}

void pdh_counters::close() noexcept {
  for (object* o : {&adapters_, &processes_, &engines_}) {
    o->of.close();
    o->is_fresh = false;
  }
}

result<void> pdh_counters::find() {
  if (fn_.open != nullptr) return {};
  auto opened = platform::library::open("pdh.dll");
  if (!opened) return failure{status::no_source, source::pdh, {}, opened.error_text};
  auto found = find_functions(opened.value);
  if (!found) return found.why();
  fn_ = *found;
  library_ = std::move(opened.value);
  return {};
}

result<void> pdh_counters::collect_afresh(object& of) {
  if (result<void> ok = find(); !ok) return ok;
  return of.of.collect(fn_);
}

// Collects once per reading, even if it fails.
result<void> pdh_counters::collect(object& of) {
  if (!of.is_fresh) {
    result<void> done = collect_afresh(of);
    of.is_fresh = true;
    of.why.reset();
    if (!done) of.why = done.why();
    has_served_ = has_served_ || !of.why;
    why_ = of.why;
  }
  if (of.why) return *of.why;
  return {};
}

result<wddm::adapter_memory> pdh_counters::memory(wddm::luid adapter) {
  if (result<void> ok = collect(adapters_); !ok) return ok.why();
  wddm::adapter_memory out;
  wddm::segment_sum* const sums[] = {&out.dedicated, &out.shared};
  for (std::size_t i = 0; i < std::size(sums); ++i) {
    if (result<void> ok = adapters_.of.read(i, rows_); !ok) return ok.why();
    add_up(rows_, adapter, *sums[i]);
  }
  return out;
}

result<void> pdh_counters::processes(wddm::luid adapter, std::vector<wddm::process_memory>& out) {
  if (result<void> ok = collect(processes_); !ok) return ok;
  for (std::size_t i = 0; i < std::size(process_values); ++i) {
    if (result<void> ok = processes_.of.read(i, rows_); !ok) return ok;
    add_up(rows_, adapter, process_values[i], out);
  }
  return {};
}

result<void> pdh_counters::load(wddm::luid adapter, wddm::loads& out) {
  const bool is_new = !engines_.is_fresh;
  if (result<void> ok = collect(engines_); !ok) return ok;
  if (is_new) {
    const std::uint64_t now = platform::monotonic_ns();
    window_ns_ = now - std::exchange(engines_ns_, now);
    const std::uint64_t suspended = platform::suspended_ns();
    was_suspended_ =
        platform::was_suspended(std::exchange(engines_suspended_ns_, suspended), suspended);
  }
  if (engines_.of.turns() < 2) {
    return failure{
        status::empty, source::pdh, {}, "Windows reports a load only from the second reading on"};
  }
  if (was_suspended_) {
    return failure{status::empty,
                   source::pdh,
                   {},
                   "the machine was suspended since the last reading: the next one has a load"};
  }
  if (result<void> ok = engines_.of.read(0, rows_); !ok) return ok;
  add_up_loads(rows_, adapter, out);
  out.window_ns = window_ns_;
  return {};
}

source_state pdh_counters::describe() const {
  source_state now;
  now.why = why_.value_or(failure{status::ok, source::pdh, {}, {}});
  if (!why_) {
    now.state = has_served_ ? state::ready : state::unknown;
  } else {
    now.state = why_->code == status::no_source ? state::absent : state::unreadable;
  }
  return now;
}

}  // namespace hmn::pdh

namespace hmn {

std::unique_ptr<wddm::counters> make_pdh() {
  return std::make_unique<pdh::pdh_counters>();
}

}  // namespace hmn
