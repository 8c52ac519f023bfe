// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/metric_names.hpp"

namespace hmn {
namespace {

constexpr metric_word engines[] = {"",       "graphics", "compute", "copy",  "decode",
                                   "encode", "video",    "other",   "memory"};
constexpr metric_word sensors[] = {"",        "core",  "hotspot",  "memory",
                                   "package", "board", "regulator"};
constexpr metric_word powers[] = {"", "average", "instant", "package", "memory", "board"};
constexpr metric_word power_limits[] = {"", "current", "default", "min", "max"};
constexpr metric_word clocks[] = {"",      "core", "memory", "sm",       "video",
                                  "media", "soc",  "fabric", "requested"};
constexpr metric_word rails[] = {"", "core", "soc", "memory", "board"};
constexpr metric_word eras[] = {"", "since_load", "lifetime"};
constexpr metric_word remappings[] = {"", "corrected", "uncorrected", "pending", "failed"};
constexpr metric_word throttles[] = {"idle", "power", "thermal", "hardware", "setting", "other"};

constexpr metric_words all[] = {
    {metric_id::engine_busy_ns, "engine_busy_ns", "ns", engines},
    {metric_id::engine_percent, "engine_percent", "%", engines},
    {metric_id::engine_capacity, "engine_capacity", "", engines},
    {metric_id::temperature, "temperature", "C", sensors},
    {metric_id::temperature_limit, "temperature_limit", "C", sensors},
    {metric_id::fan_rpm, "fan_rpm", "RPM", {}},
    {metric_id::fan_percent, "fan_percent", "%", {}},
    {metric_id::power_watts, "power_watts", "W", powers},
    {metric_id::energy_joules, "energy_joules", "J", powers},
    {metric_id::clock_mhz, "clock_mhz", "MHz", clocks},
    {metric_id::clock_limit_mhz, "clock_limit_mhz", "MHz", clocks},
    {metric_id::voltage, "voltage", "V", rails},
    {metric_id::temperature_shutdown, "temperature_shutdown", "C", sensors},
    {metric_id::power_limit_watts, "power_limit_watts", "W", power_limits},
    {metric_id::ecc_corrected, "ecc_corrected", "", eras},
    {metric_id::ecc_uncorrected, "ecc_uncorrected", "", eras},
    {metric_id::rows_remapped, "rows_remapped", "", remappings},
    {metric_id::last_fault, "last_fault", "", {}},
    {metric_id::throttle_ns, "throttle_ns", "ns", throttles, true},
    {metric_id::pcie_rx_bytes, "pcie_rx_bytes", "B", {}},
    {metric_id::pcie_tx_bytes, "pcie_tx_bytes", "B", {}},
    {metric_id::pcie_replays, "pcie_replays", "", {}},
    {metric_id::link_rx_bytes, "link_rx_bytes", "B", {}},
    {metric_id::link_tx_bytes, "link_tx_bytes", "B", {}},
    {metric_id::group_vram_bytes, "group_vram_bytes", "B", {}},
    {metric_id::group_vram_limit_bytes, "group_vram_limit_bytes", "B", {}},
};

std::uint32_t numbered(const metric_words& of, std::uint32_t n) noexcept {
  return of.by_bit ? 1U << n : n;
}

}  // namespace

const metric_words* words_of(std::uint32_t id) noexcept {
  for (const metric_words& w : all) {
    if (static_cast<std::uint32_t>(w.id) == id) return &w;
  }
  return nullptr;
}

const metric_words* words_of(std::string_view name) noexcept {
  for (const metric_words& w : all) {
    if (w.name == name) return &w;
  }
  return nullptr;
}

const char* instance_name(std::uint32_t id, std::uint32_t instance) noexcept {
  const metric_words* const w = words_of(id);
  if (w == nullptr) return "";
  for (std::uint32_t n = 0; n < w->instances.size(); ++n) {
    if (instance == numbered(*w, n)) return w->instances[n].c_str();
  }
  return "";
}

std::optional<std::uint32_t> instance_of(const metric_words& of, std::string_view name) noexcept {
  if (name.empty()) return std::nullopt;
  for (std::uint32_t n = 0; n < of.instances.size(); ++n) {
    if (of.instances[n] == name) return numbered(of, n);
  }
  return std::nullopt;
}

}  // namespace hmn
