// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "backends/metal/fail.hpp"
#include "backends/metal/source.hpp"

namespace hmn::metal {
namespace {

namespace bit = telemetry_field;

// Falls back to the warmest sensor of the chip that contains the GPU.
std::optional<double> warmest(const std::vector<thermometer>& all, bool& is_of_chip) {
  const auto gpu = highest(all, place::gpu);
  is_of_chip = !gpu;
  return gpu ? gpu : highest(all, place::chip);
}

constexpr std::uint32_t reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                             bit::power_watts, bit::core_clock_mhz};

std::uint32_t present(const telemetry& t) {
  return (t.gpu_busy_percent ? bit::gpu_busy_percent : 0) |
         (t.temperature_celsius ? bit::temperature_celsius : 0) |
         (t.power_watts ? bit::power_watts : 0) | (t.core_clock_mhz ? bit::core_clock_mhz : 0);
}

}  // namespace

void metal_source::take_telemetry(const accelerator& a, std::uint32_t fields, hmn::telemetry& out) {
  if ((fields & bit::gpu_busy_percent) != 0) out.gpu_busy_percent = a.now.busy_percent;
  if (!is_apple_) return;
  if ((fields & bit::temperature_celsius) != 0) {
    bool is_of_chip = false;
    out.temperature_celsius = warmest(temperatures(), is_of_chip);
    if (out.temperature_celsius && is_of_chip) out.notes |= note::estimated;
  }
  if ((fields & bit::power_watts) != 0) out.power_watts = now().watts;
  if ((fields & bit::core_clock_mhz) != 0 && now().megahertz) {
    out.core_clock_mhz = static_cast<std::uint32_t>(*now().megahertz + 0.5);
  }
}

failure metal_source::why_absent(std::uint32_t field, const accelerator& a) {
  if (field == bit::gpu_busy_percent) {
    return fail(status::unsupported, a.now.is_reported
                                         ? "load is not reported by this GPU's driver"
                                         : "this GPU's driver publishes no statistics");
  }
  const bool is_counted = field == bit::power_watts || field == bit::core_clock_mhz;
  if (!is_apple_ || (field != bit::temperature_celsius && !is_counted)) {
    return fail(status::unsupported, "macOS reports no such value of this GPU");
  }
  if (field == bit::temperature_celsius) {
    return fail(status::unsupported, frameworks_->has_sensors
                                         ? "no sensor of this chip gave a temperature of the GPU"
                                         : "this macOS has no interface to the chip's sensors");
  }
  if (!frameworks_->has_report) {
    return fail(status::unsupported, "this macOS has no libIOReport to count with");
  }
  const rates& of = now();
  const bool is_first = of.window_ns == 0;
  return fail(is_first ? status::empty : status::unsupported,
              field == bit::power_watts ? of.no_watts : of.no_megahertz);
}

result<void> metal_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                     reading& r) {
  const auto found = find(number);
  if (!found) return found.why();
  const accelerator& a = **found;
  out = {};
  out.from = source::metal;
  out.sources = bit_of(source::metal);
  take_telemetry(a, fields, out);
  std::uint32_t left = fields & ~present(out);
  if (left == fields) {
    const auto* const asked = std::find_if(std::begin(reported_fields), std::end(reported_fields),
                                           [&](std::uint32_t one) { return (fields & one) != 0; });
    return why_absent(asked != std::end(reported_fields) ? *asked : fields, a);
  }
  if (!r.wants_diagnostics()) return {};
  for (const std::uint32_t one : reported_fields) {
    if ((left & one) != 0) diagnose(why_absent(one, a), subject::telemetry, one, number, r);
    left &= ~one;
  }
  if (left != 0) diagnose(why_absent(left, a), subject::telemetry, left, number, r);
  return {};
}

result<void> metal_source::metrics(slot number, bool, std::vector<metric>& out, reading&) {
  const auto found = find(number);
  if (!found) return found.why();
  const statistics& s = (*found)->now;
  const auto add = [&](metric_id id, std::uint32_t instance, std::optional<double> value) {
    if (value) out.push_back(measured(source::metal, id, instance, *value));
    return value.has_value();
  };
  add(metric_id::engine_percent, which::engine::unknown, s.busy_percent);
  add(metric_id::engine_percent, which::engine::graphics, s.renderer_percent);
  add(metric_id::engine_percent, which::engine::other, s.tiler_percent);
  if (!is_apple_) return {};
  add(metric_id::temperature, which::sensor::core, highest(temperatures(), place::gpu));
  add(metric_id::temperature, which::sensor::package, highest(temperatures(), place::chip));
  const rates& counted = now();
  if (add(metric_id::power_watts, which::power_reading::average, counted.watts)) {
    out.back().window_ns = counted.window_ns;
  }
  if (add(metric_id::clock_mhz, which::clock::core, counted.megahertz)) {
    out.back().window_ns = counted.window_ns;
  }
  if (!clocks_.empty()) {
    add(metric_id::clock_limit_mhz, which::clock::core,
        *std::max_element(clocks_.begin(), clocks_.end()));
  }
  return {};
}

}  // namespace hmn::metal
