// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/pdh.hpp"

#include <cstddef>
#include <utility>

#include "backends/pdh/query.hpp"
#include "platform/clock.hpp"

namespace hmn::pdh {
namespace {

constexpr Counter of_adapters[] = {
    {u"\\GPU Adapter Memory(*)\\Dedicated Usage"},
    {u"\\GPU Adapter Memory(*)\\Shared Usage"},
};

// "Usage" of a process is its committed memory; counters of resident memory were added later.
constexpr Counter of_processes[] = {
    {u"\\GPU Process Memory(*)\\Dedicated Usage"},
    {u"\\GPU Process Memory(*)\\Shared Usage"},
    {u"\\GPU Process Memory(*)\\Local Usage", false},
    {u"\\GPU Process Memory(*)\\Non Local Usage", false},
};
constexpr wddm::SegmentSum wddm::ProcessMemory::*process_values[] = {
    &wddm::ProcessMemory::dedicated_committed,
    &wddm::ProcessMemory::shared_committed,
    &wddm::ProcessMemory::dedicated_resident,
    &wddm::ProcessMemory::shared_resident,
};

constexpr Counter of_engines[] = {{u"\\GPU Engine(*)\\Utilization Percentage"}};

}  // namespace

PdhCounters::PdhCounters() noexcept
    : adapters_{{of_adapters, as_whole}, false, {}},
      processes_{{of_processes, as_whole}, false, {}},
      engines_{{of_engines, as_real | uncapped}, false, {}} {}

void PdhCounters::begin() noexcept {
  for (Object* o : {&adapters_, &processes_, &engines_}) o->is_fresh = false;
}

void PdhCounters::close() noexcept {
  for (Object* o : {&adapters_, &processes_, &engines_}) {
    o->of.close();
    o->is_fresh = false;
  }
}

Result<void> PdhCounters::find() {
  if (fn_.open != nullptr) return {};
  auto opened = platform::Library::open("pdh.dll");
  if (!opened) return Failure{Status::no_source, Source::pdh, {}, opened.error_text};
  auto found = find_functions(opened.value);
  if (!found) return found.why();
  fn_ = *found;
  library_ = std::move(opened.value);
  return {};
}

Result<void> PdhCounters::collect_afresh(Object& of) {
  if (Result<void> ok = find(); !ok) return ok;
  return of.of.collect(fn_);
}

// Collects once per reading, even if it fails.
Result<void> PdhCounters::collect(Object& of) {
  if (!of.is_fresh) {
    Result<void> done = collect_afresh(of);
    of.is_fresh = true;
    of.why.reset();
    if (!done) of.why = done.why();
    has_served_ = has_served_ || !of.why;
    why_ = of.why;
  }
  if (of.why) return *of.why;
  return {};
}

Result<wddm::AdapterMemory> PdhCounters::memory(wddm::Luid adapter) {
  if (Result<void> ok = collect(adapters_); !ok) return ok.why();
  wddm::AdapterMemory out;
  wddm::SegmentSum* const sums[] = {&out.dedicated, &out.shared};
  for (std::size_t i = 0; i < std::size(sums); ++i) {
    if (Result<void> ok = adapters_.of.read(i, rows_); !ok) return ok.why();
    add_up(rows_, adapter, *sums[i]);
  }
  return out;
}

Result<void> PdhCounters::processes(wddm::Luid adapter, std::vector<wddm::ProcessMemory>& out) {
  if (Result<void> ok = collect(processes_); !ok) return ok;
  for (std::size_t i = 0; i < std::size(process_values); ++i) {
    if (Result<void> ok = processes_.of.read(i, rows_); !ok) return ok;
    add_up(rows_, adapter, process_values[i], out);
  }
  return {};
}

Result<void> PdhCounters::load(wddm::Luid adapter, wddm::Loads& out) {
  const bool is_new = !engines_.is_fresh;
  if (Result<void> ok = collect(engines_); !ok) return ok;
  if (is_new) {
    const std::uint64_t now = platform::monotonic_ns();
    window_ns_ = now - std::exchange(engines_ns_, now);
    const std::uint64_t suspended = platform::suspended_ns();
    was_suspended_ =
        platform::was_suspended(std::exchange(engines_suspended_ns_, suspended), suspended);
  }
  if (engines_.of.turns() < 2) {
    return Failure{
        Status::empty, Source::pdh, {}, "Windows reports a load only from the second reading on"};
  }
  if (was_suspended_) {
    return Failure{Status::empty,
                   Source::pdh,
                   {},
                   "the machine was suspended since the last reading: the next one has a load"};
  }
  if (Result<void> ok = engines_.of.read(0, rows_); !ok) return ok;
  add_up_loads(rows_, adapter, out);
  out.window_ns = window_ns_;
  return {};
}

SourceState PdhCounters::describe() const {
  SourceState now;
  now.why = why_.value_or(Failure{Status::ok, Source::pdh, {}, {}});
  if (!why_) {
    now.state = has_served_ ? State::ready : State::unknown;
  } else {
    now.state = why_->code == Status::no_source ? State::absent : State::unreadable;
  }
  return now;
}

}  // namespace hmn::pdh

namespace hmn {

std::unique_ptr<wddm::Counters> make_pdh() {
  return std::make_unique<pdh::PdhCounters>();
}

}  // namespace hmn
