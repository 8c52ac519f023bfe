// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/source.hpp"
#include "model/compose.hpp"
#include "model/record.hpp"

namespace hmn::amd_tool {
namespace {

namespace bit = telemetry_field;

struct reading_field {
  metric_id id;
  field what;
  std::uint8_t instance;
  std::uint32_t telemetry = 0;  // presence bit; 0: none
};

// Fallbacks come later: of two rows for one field of the telemetry the first with a value is used.
constexpr reading_field reading_fields[] = {
    {metric_id::engine_percent, field::gpu_busy, which::engine::graphics, bit::gpu_busy_percent},
    {metric_id::engine_percent, field::memory_busy, which::engine::memory,
     bit::memory_busy_percent},
    {metric_id::engine_percent, field::media_busy, which::engine::video},
    {metric_id::temperature, field::edge, which::sensor::core, bit::temperature_celsius},
    {metric_id::temperature, field::hotspot, which::sensor::hotspot, bit::hotspot_celsius},
    {metric_id::temperature, field::memory_temperature, which::sensor::memory, bit::memory_celsius},
    {metric_id::temperature_limit, field::edge_limit, which::sensor::core},
    {metric_id::temperature_limit, field::hotspot_limit, which::sensor::hotspot},
    {metric_id::temperature_limit, field::memory_limit, which::sensor::memory},
    {metric_id::temperature_shutdown, field::edge_shutdown, which::sensor::core},
    {metric_id::temperature_shutdown, field::hotspot_shutdown, which::sensor::hotspot},
    {metric_id::temperature_shutdown, field::memory_shutdown, which::sensor::memory},
    {metric_id::power_watts, field::average_power, which::power_reading::average, bit::power_watts},
    {metric_id::power_watts, field::package_power, which::power_reading::package, bit::power_watts},
    {metric_id::power_limit_watts, field::power_limit, which::power_limit::current,
     bit::power_limit_watts},
    {metric_id::power_limit_watts, field::lowest_power_limit, which::power_limit::min},
    {metric_id::power_limit_watts, field::highest_power_limit, which::power_limit::max},
    {metric_id::energy_joules, field::energy, which::power_reading::package, bit::energy_joules},
    {metric_id::clock_mhz, field::core_clock, which::clock::core, bit::core_clock_mhz},
    {metric_id::clock_mhz, field::memory_clock, which::clock::memory, bit::memory_clock_mhz},
    {metric_id::clock_mhz, field::soc_clock, which::clock::soc},
    {metric_id::clock_mhz, field::fabric_clock, which::clock::fabric},
    {metric_id::clock_mhz, field::video_clock, which::clock::video},
    {metric_id::clock_limit_mhz, field::highest_core_clock, which::clock::core},
    {metric_id::clock_limit_mhz, field::highest_memory_clock, which::clock::memory},
    {metric_id::voltage, field::core_voltage, which::rail::core},
    {metric_id::voltage, field::soc_voltage, which::rail::soc},
    {metric_id::voltage, field::memory_voltage, which::rail::memory},
    {metric_id::fan_percent, field::fan_percent, 1, bit::fan_percent},
    {metric_id::fan_rpm, field::fan_rpm, 1, bit::fan_rpm},
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
    p.from = d_.tool.fail.from;
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
  out.from = d_.tool.fail.from;
  out.sources = bit_of(d_.tool.fail.from);
  std::uint32_t left = fields;
  std::vector<missing> gaps;
  const auto note = [&](std::uint32_t bits, const failure& why) {
    if (bits != 0) add_missing(gaps, bits, why.code, why.message, why.stated);
  };
  const auto take = [&](field what, std::uint32_t bits) -> const field_amount* {
    if ((left & bits) == 0) return nullptr;
    const field_amount& f = c[what];
    if (f.has_value()) {
      left &= ~bits;
      return &f;
    }
    if (f.why != status::empty) note(bits, why_absent(c, what));
    return nullptr;
  };
  for (const reading_field& f : reading_fields) {
    const field_amount* const v = take(f.what, f.telemetry);
    if (v == nullptr) continue;
    const hmn::field& into = field_of(fields_of<hmn::telemetry>(), f.telemetry);
    if (into.type == field_type::real) {
      into.set(&out, v->number);
    } else {
      into.set(&out, static_cast<std::uint32_t>(v->number + 0.5));
    }
  }
  if (const auto* const v = take(field::pcie_link, bit::pcie_generation)) {
    out.pcie_generation = static_cast<std::uint32_t>(v->whole >> 8);
  }
  if (const auto* const v = take(field::pcie_link, bit::pcie_width)) {
    out.pcie_width = static_cast<std::uint32_t>(v->whole & 0xFF);
  }
  if (take(field::throttle, bit::throttle) != nullptr) out.throttle = 0;
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
  for (const reading_field& m : reading_fields) {
    const field_amount& f = (**found)[m.what];
    if (f.has_value()) out.push_back(measured(d_.tool.fail.from, m.id, m.instance, f.number));
    // Most cards lack some, for which the tool has words.
    if (f.why == status::ok || f.why == status::empty || f.why == status::unsupported) continue;
    report(**found, m.what, static_cast<std::uint32_t>(m.id), subject::metrics, number, r);
  }
  return {};
}

}  // namespace hmn::amd_tool
