// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/pdh.hpp"

#include <cstddef>
#include <utility>

#include "backends/pdh/query.hpp"
#include "platform/clock.hpp"

namespace hmn::pdh {
namespace {

constexpr Counter adapter_counters[] = {
    {u"\\GPU Adapter Memory(*)\\Dedicated Usage"},
    {u"\\GPU Adapter Memory(*)\\Shared Usage"},
};

// "Usage" of a process is its committed memory; counters of resident memory were added later.
constexpr Counter process_counters[] = {
    {u"\\GPU Process Memory(*)\\Dedicated Usage"},
    {u"\\GPU Process Memory(*)\\Shared Usage"},
    {u"\\GPU Process Memory(*)\\Local Usage", false},
    {u"\\GPU Process Memory(*)\\Non Local Usage", false},
};
constexpr wddm::SegmentSum wddm::ProcessMemory::*process_members[] = {
    &wddm::ProcessMemory::dedicated_committed,
    &wddm::ProcessMemory::shared_committed,
    &wddm::ProcessMemory::dedicated_resident,
    &wddm::ProcessMemory::shared_resident,
};

constexpr Counter engine_counters[] = {{u"\\GPU Engine(*)\\Utilization Percentage"}};

}  // namespace

PdhCounters::PdhCounters() noexcept
    : adapters_{{adapter_counters, format_whole}, false, {}},
      processes_{{process_counters, format_whole}, false, {}},
      engines_{{engine_counters, format_real | format_uncapped}, false, {}} {}

void PdhCounters::begin() noexcept {
  for (CounterObject* object : {&adapters_, &processes_, &engines_}) object->is_fresh = false;
}

void PdhCounters::close() noexcept {
  for (CounterObject* object : {&adapters_, &processes_, &engines_}) {
    object->query.close();
    object->is_fresh = false;
  }
}

Result<void> PdhCounters::load_library() {
  if (fn_.open != nullptr) return {};
  auto library = platform::Library::open("pdh.dll");
  if (!library) return Failure{Status::no_source, Source::pdh, {}, library.error_text};
  auto functions = find_functions(library.value);
  if (!functions) return functions.failure();
  fn_ = *functions;
  library_ = std::move(library.value);
  return {};
}

Result<void> PdhCounters::collect_now(CounterObject& object) {
  if (Result<void> result = load_library(); !result) return result;
  return object.query.collect(fn_);
}

// Collects once per reading, even if it fails.
Result<void> PdhCounters::collect(CounterObject& object) {
  if (!object.is_fresh) {
    Result<void> result = collect_now(object);
    object.is_fresh = true;
    object.failure.reset();
    if (!result) object.failure = result.failure();
    has_served_ = has_served_ || !object.failure;
    failure_ = object.failure;
  }
  if (object.failure) return *object.failure;
  return {};
}

Result<wddm::AdapterMemory> PdhCounters::memory(wddm::Luid adapter) {
  if (Result<void> ok = collect(adapters_); !ok) return ok.failure();
  wddm::AdapterMemory out;
  wddm::SegmentSum* const sums[] = {&out.dedicated, &out.shared};
  for (std::size_t i = 0; i < std::size(sums); ++i) {
    if (Result<void> ok = adapters_.query.read(i, rows_); !ok) return ok.failure();
    add_up(rows_, adapter, *sums[i]);
  }
  return out;
}

Result<void> PdhCounters::processes(wddm::Luid adapter, std::vector<wddm::ProcessMemory>& out) {
  if (Result<void> ok = collect(processes_); !ok) return ok;
  for (std::size_t i = 0; i < std::size(process_members); ++i) {
    if (Result<void> ok = processes_.query.read(i, rows_); !ok) return ok;
    add_up(rows_, adapter, process_members[i], out);
  }
  return {};
}

Result<void> PdhCounters::load(wddm::Luid adapter, wddm::LoadReading& out) {
  const bool is_first_call = !engines_.is_fresh;
  if (Result<void> ok = collect(engines_); !ok) return ok;
  if (is_first_call) {
    const std::uint64_t now = platform::monotonic_ns();
    window_ns_ = now - std::exchange(engines_time_ns_, now);
    const std::uint64_t suspended = platform::suspended_ns();
    was_suspended_ =
        platform::was_suspended(std::exchange(engines_suspended_ns_, suspended), suspended);
  }
  if (engines_.query.collections() < 2) {
    return Failure{
        Status::empty, Source::pdh, {}, "Windows reports a load only from the second reading on"};
  }
  if (was_suspended_) {
    return Failure{Status::empty,
                   Source::pdh,
                   {},
                   "the machine was suspended since the last reading: the next one has a load"};
  }
  if (Result<void> ok = engines_.query.read(0, rows_); !ok) return ok;
  add_up_loads(rows_, adapter, out);
  out.window_ns = window_ns_;
  return {};
}

SourceState PdhCounters::describe() const {
  SourceState current;
  current.failure = failure_.value_or(Failure{Status::ok, Source::pdh, {}, {}});
  if (!failure_) {
    current.state = has_served_ ? State::ready : State::unknown;
  } else {
    current.state = failure_->code == Status::no_source ? State::absent : State::unreadable;
  }
  return current;
}

}  // namespace hmn::pdh

namespace hmn {

std::unique_ptr<wddm::Counters> make_pdh() {
  return std::make_unique<pdh::PdhCounters>();
}

}  // namespace hmn
