// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/measure/freshness.hpp"
#include "cli/text/axis.hpp"
#include "cli/text/words.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/page_text.hpp"
#include "cli/top/pages.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::part;
using hypomnesis::pool;
using hypomnesis::telemetry;
using hypomnesis::throttle_reason;

// Collects the entries of one GPU, with the reasons that its snapshot has.
class gpu_entries {
 public:
  gpu_entries(const state& of, const gpu_reading& gpu) : of_(of), gpu_(gpu) {}

  void add(std::string label, const std::optional<std::string>& text) {
    if (text) all_.push_back({std::move(label), *text, {}});
  }
  void add_or(std::string label, const std::optional<std::string>& value, part subject,
              std::uint32_t bit) {
    all_.push_back({std::move(label), value.value_or(""), value ? "" : reason(subject, bit)});
  }
  void add_or(std::string label, std::optional<std::string> value, std::string reason) {
    all_.push_back({std::move(label), value.value_or(""), std::move(reason)});
  }
  template <class Value>
  void add_number(const char* label, std::optional<Value> telemetry::*which, std::uint32_t bit,
                  const char* format) {
    const auto value = gpu_.values ? (*gpu_.values).*which : std::nullopt;
    add_or(label, value ? std::optional(fmt::format(fmt::runtime(format), *value)) : std::nullopt,
           part::telemetry, bit);
  }
  void add_bytes(const char* label, std::optional<std::uint64_t> pool::*which, std::uint32_t bit) {
    const auto value = gpu_.of.memory ? (*gpu_.of.memory).*which : std::nullopt;
    add_or(label, value ? std::optional(short_bytes(static_cast<double>(*value))) : std::nullopt,
           part::pools, bit);
  }
  std::vector<entry> all() { return std::move(all_); }

 private:
  std::string reason(part subject, std::uint32_t bit) const {
    if (!of_.now->from) return {};
    const auto found = of_.now->from->reason(gpu_.of.device.index, subject, bit);
    return found ? found->message : std::string();
  }

  const state& of_;
  const gpu_reading& gpu_;
  std::vector<entry> all_;
};

std::optional<std::string> rate_or_none(const std::optional<double>& rate) {
  return rate ? std::optional(rate_text(rate).text) : std::nullopt;
}

std::optional<std::string> throttle_text(const gpu_reading& of) {
  if (!of.values || !of.values->throttle) return std::nullopt;
  constexpr std::pair<throttle_reason, const char*> names[] = {
      {throttle_reason::idle, "idle"},         {throttle_reason::power, "power"},
      {throttle_reason::thermal, "thermal"},   {throttle_reason::hardware, "hardware"},
      {throttle_reason::setting, "a setting"}, {throttle_reason::other, "other"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (has(*of.values->throttle, bit)) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "no" : text;
}

std::optional<std::string> spill_text(const gpu_reading& of) {
  if (!of.is_spilling) return std::nullopt;
  if (*of.is_spilling) return "now: memory of the GPU is in host memory";
  return of.has_spilled ? "earlier, not now" : "no";
}

void add_identity(gpu_entries& to, const gpu_reading& of) {
  const auto& device = of.of.device;
  to.add("name", shown_name(of.of));
  to.add("UUID", device.uuid);
  to.add("PCI address", device.pci_bus_id);
  to.add("driver", device.driver_version);
  if (device.parent_index) to.add("part of", fmt::format("GPU {}", *device.parent_index));
  const auto state = state_word(device.state).value_or("unknown");
  to.add("state",
         of.why_state.empty() ? std::string(state) : fmt::format("{}: {}", state, of.why_state));
  if (of.values && !is_fresh(*of.values)) to.add("values", stale_text(of.values->age_ns));
}

std::vector<entry> entries_of(const state& in, const gpu_reading& of, bool unicode) {
  gpu_entries to(in, of);
  add_identity(to, of);
  to.add_number("load", &telemetry::gpu_busy_percent, HMN_TELEMETRY_HAS_GPU_BUSY, "{:.0f}%");
  to.add_number("memory load", &telemetry::memory_busy_percent, HMN_TELEMETRY_HAS_MEMORY_BUSY,
                "{:.0f}%");
  to.add_number("encoder", &telemetry::encoder_busy_percent, HMN_TELEMETRY_HAS_ENCODER_BUSY,
                "{:.0f}%");
  to.add_number("decoder", &telemetry::decoder_busy_percent, HMN_TELEMETRY_HAS_DECODER_BUSY,
                "{:.0f}%");
  to.add_bytes("memory used", &pool::used_bytes, HMN_POOL_HAS_USED);
  to.add_bytes("memory free", &pool::free_bytes, HMN_POOL_HAS_FREE);
  to.add_bytes("memory reserved", &pool::reserved_bytes, HMN_POOL_HAS_RESERVED);
  to.add_bytes("memory total", &pool::total_bytes, HMN_POOL_HAS_TOTAL);
  to.add_bytes("unattributed", &pool::unattributed_bytes, HMN_POOL_HAS_UNATTRIBUTED);
  const char* const degrees = unicode ? "{:.0f}\u00b0C" : "{:.0f}C";
  to.add_number("temperature", &telemetry::temperature_celsius, HMN_TELEMETRY_HAS_TEMPERATURE,
                degrees);
  to.add_number("hotspot", &telemetry::hotspot_celsius, HMN_TELEMETRY_HAS_HOTSPOT, degrees);
  to.add_number("memory temperature", &telemetry::memory_celsius,
                HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, degrees);
  to.add_number("power", &telemetry::power_watts, HMN_TELEMETRY_HAS_POWER, "{:.1f} W");
  to.add_number("power limit", &telemetry::power_limit_watts, HMN_TELEMETRY_HAS_POWER_LIMIT,
                "{:.0f} W");
  to.add_number("core clock", &telemetry::core_clock_mhz, HMN_TELEMETRY_HAS_CORE_CLOCK, "{} MHz");
  to.add_number("memory clock", &telemetry::memory_clock_mhz, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
                "{} MHz");
  to.add_number("fan", &telemetry::fan_percent, HMN_TELEMETRY_HAS_FAN_PERCENT, "{}%");
  to.add_number("fan speed", &telemetry::fan_rpm, HMN_TELEMETRY_HAS_FAN_RPM, "{} RPM");
  to.add_number("PCIe generation", &telemetry::pcie_generation, HMN_TELEMETRY_HAS_PCIE_GENERATION,
                "{}");
  to.add_number("PCIe lanes", &telemetry::pcie_width, HMN_TELEMETRY_HAS_PCIE_WIDTH, "{}");
  to.add_or("PCIe received", rate_or_none(of.received_rate), of.why_no_rate);
  to.add_or("PCIe sent", rate_or_none(of.sent_rate), of.why_no_rate);
  to.add_number("P-state", &telemetry::p_state, HMN_TELEMETRY_HAS_P_STATE, "P{}");
  to.add_or("throttled", throttle_text(of), part::telemetry, HMN_TELEMETRY_HAS_THROTTLE);
  to.add_or("spill", spill_text(of), of.why_no_spill);
  return to.all();
}

}  // namespace

void draw_gpu_page(frame& on, area where, state& of) {
  const auto* const gpu = of.gpu();
  if (gpu == nullptr) return;
  auto all = charts_of(of, *gpu, on.has_unicode());
  const int charts = std::clamp(where.height / 3, least_chart_height, 12);
  all.resize(std::min<std::size_t>(all.size(), where.width >= 150                  ? 5
                                               : where.width >= 100 || charts >= 8 ? 4
                                                                                   : 2));
  draw_charts(on, {where.x, where.y, where.width, charts}, all, of.window());
  draw_entries(on, {where.x, where.y + charts, where.width, where.height - charts},
               entries_of(of, *gpu, on.has_unicode()), of.text);
}

}  // namespace hmn::cli::top
