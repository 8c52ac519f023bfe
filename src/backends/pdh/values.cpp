// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/values.hpp"

#include <algorithm>
#include <optional>

namespace hmn::pdh {
namespace {

// Negative sizes are invalid.
std::optional<std::uint64_t> bytes_of(const row& r) noexcept {
  if (!r.is_valid || r.whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(r.whole);
}

bool is_load(const row& r, wddm::luid adapter) noexcept {
  return r.who.adapter == adapter && r.who.engine && r.is_valid;
}

// Sums of samples exceed 100 % by little. One far above it is left to the check of every value.
double capped(double percent) noexcept {
  return percent <= 200 ? std::min(percent, 100.0) : percent;
}

struct engine {
  std::uint32_t physical;
  std::uint32_t number;
  std::uint32_t kind;
  double percent;
};

void add(std::vector<engine>& all, const row& r) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const engine& e) {
    return e.physical == r.who.physical && e.number == *r.who.engine;
  });
  if (known == all.end()) {
    all.push_back({r.who.physical, *r.who.engine, r.who.engine_kind, r.real});
  } else {
    known->percent += r.real;
  }
}

void add(std::vector<wddm::process_load>& all, const row& r) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const wddm::process_load& p) { return p.pid == r.who.pid; });
  const double percent = capped(r.real);
  if (known == all.end()) {
    all.push_back({*r.who.pid, percent});
  } else {
    known->percent = std::max(known->percent, percent);
  }
}

}  // namespace

void add_up(std::span<const row> rows, wddm::luid adapter, wddm::segment_sum& out) {
  for (const row& r : rows) {
    if (r.who.adapter == adapter && !r.who.pid) out.add(bytes_of(r));
  }
}

void add_up(std::span<const row> rows, wddm::luid adapter,
            wddm::segment_sum wddm::process_memory::*which,
            std::vector<wddm::process_memory>& out) {
  for (const row& r : rows) {
    if (r.who.adapter != adapter || !r.who.pid) continue;
    auto known = std::find_if(out.begin(), out.end(), [&](const wddm::process_memory& p) {
      return p.adapter == adapter && p.pid == *r.who.pid;
    });
    if (known == out.end()) {
      wddm::process_memory fresh;
      fresh.adapter = adapter;
      fresh.pid = *r.who.pid;
      known = out.insert(out.end(), fresh);
    }
    ((*known).*which).add(bytes_of(r));
  }
}

void add_up_loads(std::span<const row> rows, wddm::luid adapter, wddm::loads& out) {
  std::vector<engine> engines;
  for (const row& r : rows) {
    if (!is_load(r, adapter)) continue;
    if (!(r.real >= 0)) {
      out.lacks_a_value = true;
      continue;
    }
    add(engines, r);
    if (r.who.pid) add(out.processes, r);
  }
  for (const engine& e : engines) {
    std::optional<double>& percent = out.adapter.percent[e.kind];
    percent = std::max(percent.value_or(0), capped(e.percent));
  }
}

}  // namespace hmn::pdh
