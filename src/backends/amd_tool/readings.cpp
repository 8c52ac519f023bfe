// SPDX-License-Identifier: MIT OR Apache-2.0
#include <iterator>

#include "backends/amd_tool/source.hpp"
#include "model/compose.hpp"

namespace hmn::amd_tool {
namespace {

namespace bit = telemetry_field;

struct real_field {
  field what;
  std::uint32_t bit;
  std::optional<double> telemetry::*into;
};

// Fallbacks come later: of two rows for one field the first with a value is used.
constexpr real_field real_fields[] = {
    {field::gpu_busy, bit::gpu_busy_percent, &telemetry::gpu_busy_percent},
    {field::memory_busy, bit::memory_busy_percent, &telemetry::memory_busy_percent},
    {field::edge, bit::temperature_celsius, &telemetry::temperature_celsius},
    {field::hotspot, bit::hotspot_celsius, &telemetry::hotspot_celsius},
    {field::memory_temperature, bit::memory_celsius, &telemetry::memory_celsius},
    {field::average_power, bit::power_watts, &telemetry::power_watts},
    {field::package_power, bit::power_watts, &telemetry::power_watts},
    {field::power_limit, bit::power_limit_watts, &telemetry::power_limit_watts},
    {field::energy, bit::energy_joules, &telemetry::energy_joules},
};

struct count_field {
  field what;
  std::uint32_t bit;
  std::optional<std::uint32_t> telemetry::*into;
};

constexpr count_field count_fields[] = {
    {field::core_clock, bit::core_clock_mhz, &telemetry::core_clock_mhz},
    {field::memory_clock, bit::memory_clock_mhz, &telemetry::memory_clock_mhz},
    {field::fan_percent, bit::fan_percent, &telemetry::fan_percent},
    {field::fan_rpm, bit::fan_rpm, &telemetry::fan_rpm},
};

struct metric_field {
  field what;
  metric_id id;
  std::uint32_t instance;
};

constexpr metric_field metric_fields[] = {
    {field::gpu_busy, metric_id::engine_percent, which::engine::graphics},
    {field::memory_busy, metric_id::engine_percent, which::engine::memory},
    {field::media_busy, metric_id::engine_percent, which::engine::video},
    {field::edge, metric_id::temperature, which::sensor::core},
    {field::hotspot, metric_id::temperature, which::sensor::hotspot},
    {field::memory_temperature, metric_id::temperature, which::sensor::memory},
    {field::edge_limit, metric_id::temperature_limit, which::sensor::core},
    {field::hotspot_limit, metric_id::temperature_limit, which::sensor::hotspot},
    {field::memory_limit, metric_id::temperature_limit, which::sensor::memory},
    {field::edge_shutdown, metric_id::temperature_shutdown, which::sensor::core},
    {field::hotspot_shutdown, metric_id::temperature_shutdown, which::sensor::hotspot},
    {field::memory_shutdown, metric_id::temperature_shutdown, which::sensor::memory},
    {field::average_power, metric_id::power_watts, which::power_reading::average},
    {field::package_power, metric_id::power_watts, which::power_reading::package},
    {field::power_limit, metric_id::power_limit_watts, which::power_limit::current},
    {field::lowest_power_limit, metric_id::power_limit_watts, which::power_limit::min},
    {field::highest_power_limit, metric_id::power_limit_watts, which::power_limit::max},
    {field::energy, metric_id::energy_joules, which::power_reading::package},
    {field::core_clock, metric_id::clock_mhz, which::clock::core},
    {field::memory_clock, metric_id::clock_mhz, which::clock::memory},
    {field::soc_clock, metric_id::clock_mhz, which::clock::soc},
    {field::fabric_clock, metric_id::clock_mhz, which::clock::fabric},
    {field::video_clock, metric_id::clock_mhz, which::clock::video},
    {field::highest_core_clock, metric_id::clock_limit_mhz, which::clock::core},
    {field::highest_memory_clock, metric_id::clock_limit_mhz, which::clock::memory},
    {field::core_voltage, metric_id::voltage, which::rail::core},
    {field::soc_voltage, metric_id::voltage, which::rail::soc},
    {field::memory_voltage, metric_id::voltage, which::rail::memory},
    {field::fan_percent, metric_id::fan_percent, 1},
    {field::fan_rpm, metric_id::fan_rpm, 1},
};

}  // namespace

failure amd_source::why_unprinted(field f) const {
  const bool is_constant = f <= field::driver ||
                           (f >= field::edge_limit && f <= field::memory_shutdown) ||
                           (f >= field::power_limit && f <= field::highest_power_limit);
  const std::optional<failure>& why = is_constant ? no_identity_ : no_readings_;
  return why ? *why
             : fail(status::unsupported, {d_.tool.name, " prints no such value of this GPU"});
}

failure amd_source::why_absent(const card& c, field what) const {
  const field_amount& f = c[what];
  if (f.why == status::empty) return why_unprinted(what);
  return with_reason(f.stated, fail(f.why, {d_.tool.name, "'s \"", f.key.view(), "\" is \"",
                                            f.text.view(), "\"", f.flaw}));
}

void amd_source::report(const card& c, field f, std::uint32_t bits, std::uint32_t about,
                        slot number, reading& r) const {
  if (r.wants_diagnostics()) diagnose(why_absent(c, f), about, bits, number, r);
}

void amd_source::use_of(pool& p, const card& c, field used, slot number, reading& r) const {
  const field_amount& f = c[used];
  if (!f.has_value()) {
    return report(c, used, pool_field::used | pool_field::free, subject::pools, number, r);
  }
  p.used = f.whole;
  if (*p.used <= *p.total) p.free = *p.total - *p.used;
  if (f.is_rounded) p.notes |= note::estimated;
}

result<void> amd_source::memory(slot number, pools& out, reading& r) {
  constexpr struct {
    pool_kind kind;
    field total, used;
  } all[] = {{pool_kind::vram, field::vram_total, field::vram_used},
             {pool_kind::vram_visible, field::visible_total, field::visible_used},
             {pool_kind::host, field::host_total, field::host_used}};
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const card& c = **found;
  for (const auto& one : all) {
    const field_amount& total = c[one.total];
    if (!total.has_value() || total.whole == 0) {
      if (one.kind == pool_kind::vram) return why_absent(c, one.total);
      continue;
    }
    pool p;
    p.from = d_.tool.from;
    p.accounting = accounting::allocated;
    p.kind = one.kind;
    p.is_main = one.kind == pool_kind::vram;
    p.total = total.whole;
    if (total.is_rounded) p.notes |= note::estimated;
    use_of(p, c, one.used, number, r);
    out.add(p);
  }
  return {};
}

result<void> amd_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                   reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const card& c = **found;
  out = {};
  out.from = d_.tool.from;
  out.sources = bit_of(d_.tool.from);
  std::uint32_t left = fields;
  std::vector<missing> gaps;
  const auto note = [&](std::uint32_t bits, const failure& why) {
    if (bits != 0) add_missing(gaps, bits, why.code, why.message, why.stated);
  };
  const auto take = [&](field what, std::uint32_t bits, auto&& put) {
    if ((left & bits) == 0) return;
    if (c[what].has_value()) {
      put(c[what]);
      left &= ~bits;
    } else if (c[what].why != status::empty) {
      note(bits, why_absent(c, what));
    }
  };
  for (const real_field& f : real_fields) {
    take(f.what, f.bit, [&](const field_amount& v) { out.*f.into = v.number; });
  }
  for (const count_field& f : count_fields) {
    take(f.what, f.bit,
         [&](const field_amount& v) { out.*f.into = static_cast<std::uint32_t>(v.number + 0.5); });
  }
  take(field::pcie_link, bit::pcie_generation, [&](const field_amount& v) {
    out.pcie_generation = static_cast<std::uint32_t>(v.whole >> 8);
  });
  take(field::pcie_link, bit::pcie_width,
       [&](const field_amount& v) { out.pcie_width = static_cast<std::uint32_t>(v.whole & 0xFF); });
  take(field::throttle, bit::throttle,
       [&](const field_amount& v) { out.throttle = v.whole != 0 ? throttle::other : 0; });
  // Reasons count only while no other row has a value for the field.
  std::uint32_t silent = left;
  for (missing& g : gaps) {
    g.fields &= left;
    silent &= ~g.fields;
  }
  note(silent & bit::power_limit_watts, why_unprinted(field::power_limit));
  note(silent & ~bit::power_limit_watts, why_unprinted(field::gpu_busy));
  if (left == fields && !gaps.empty()) return why_nothing(gaps, subject::telemetry, number, r);
  diagnose(gaps, subject::telemetry, number, r);
  return {};
}

result<void> amd_source::metrics(slot number, bool, std::vector<metric>& out, reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  for (const metric_field& m : metric_fields) {
    const field_amount& f = (**found)[m.what];
    if (f.has_value()) out.push_back(measured(d_.tool.from, m.id, m.instance, f.number));
    // Most cards lack some, for which the tool has words.
    if (f.why == status::ok || f.why == status::empty || f.why == status::unsupported) continue;
    report(**found, m.what, static_cast<std::uint32_t>(m.id), subject::metrics, number, r);
  }
  return {};
}

}  // namespace hmn::amd_tool
