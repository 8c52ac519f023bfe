// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/engine_totals.hpp"

#include <algorithm>
#include <array>

#include "backends/drm/use.hpp"

namespace hmn::drm {
namespace {

constexpr std::uint32_t last_class = which::engine::other;

// Engines of one class.
struct engine_class {
  double weighted = 0;  // sum of percent times number of engines
  std::uint64_t capacity = 0;
  std::optional<std::uint64_t> busy_ns;
};

void add(engine_class& to, const engine_load& load) noexcept {
  to.weighted += load.percent * static_cast<double>(load.capacity);
  to.capacity += load.capacity;
  if (load.busy_ns) to.busy_ns = to.busy_ns.value_or(0) + *load.busy_ns;
}

using classes = std::array<engine_class, last_class + 1>;

classes by_class(std::span<const engine_load> loads) noexcept {
  classes all;
  for (const engine_load& l : loads) add(all[usual_engine(l.name.view())], l);
  return all;
}

// Skips what the driver already reported from a device counter.
bool is_reported(std::span<const metric> all, metric_id id, std::uint32_t engine) noexcept {
  return std::ranges::any_of(
      all, [&](const metric& m) { return m.id == id && m.instance == engine && !m.pid; });
}

}  // namespace

engine_totals::total& engine_totals::until(const client_list& then, slot card,
                                           std::uint32_t engine) {
  for (total& t : kept_) {
    if (t.card == card && t.engine == engine) return t;
  }
  total& fresh = kept_.emplace_back(total{card, engine, 0});
  then.each_by_key(card, [&](const client& c, bool again) {
    if (again) return;
    for (const engine_sample& e : then.engines_of(c)) {
      if (usual_engine(e.name.view()) == engine) fresh.busy_ns += e.busy_ns.value_or(0);
    }
  });
  return fresh;
}

void engine_totals::keep(const client_list& now, const client_list& before,
                         std::span<const card> cards, load_sum& loads) {
  for (const card& c : cards) {
    loads_of(now, before, c.number, loads);
    const classes all = by_class(loads.all());
    for (std::uint32_t e = 0; e <= last_class; ++e) {
      if (all[e].busy_ns) until(before, c.number, e).busy_ns += *all[e].busy_ns;
    }
  }
}

void engine_totals::write(const client_list& before, const card& of, const card_load& load,
                          std::vector<metric>& out) {
  const classes all = by_class(load.engines);
  const source from = of.by->from();
  for (std::uint32_t e = 0; e <= last_class; ++e) {
    const engine_class& c = all[e];
    if (c.capacity == 0) continue;
    out.push_back(counted(from, metric_id::engine_capacity, e, c.capacity));
    const double percent = c.weighted / static_cast<double>(c.capacity);
    if (c.busy_ns) {
      const std::uint64_t busy = until(before, of.number, e).busy_ns + *c.busy_ns;
      out.push_back(counted(from, metric_id::engine_busy_ns, e, busy));
      out.back().notes = note::lower_bound;
    }
    // Counters are read client by client: more than 100 % in total is not a load.
    if (percent > 100.5 || is_reported(out, metric_id::engine_percent, e)) continue;
    out.push_back(measured(from, metric_id::engine_percent, e, std::min(percent, 100.0)));
    out.back().window_ns = load.window_ns;
    if (load.is_partial) out.back().notes = note::lower_bound;
  }
}

}  // namespace hmn::drm
