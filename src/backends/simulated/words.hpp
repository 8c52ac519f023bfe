// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The words and keys of the file, and what each stands for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"

namespace hmn::simulated {

template <class E>
constexpr word entry(std::string_view name, E value) {
  return {name, static_cast<std::uint32_t>(value)};
}

inline constexpr std::array note_words = {
    entry("stale", note::stale),         entry("lower_bound", note::lower_bound),
    entry("estimated", note::estimated), entry("truncated", note::truncated),
    entry("mixed", note::mixed),         entry("foreign_pid", note::foreign_pid),
};

inline constexpr std::array accounting_words = {
    entry("none", accounting::none),
    entry("resident", accounting::resident),
    entry("committed", accounting::committed),
    entry("allocated", accounting::allocated),
};

inline constexpr std::array device_kind_words = {
    entry("unknown", device_kind::unknown),        entry("discrete", device_kind::discrete),
    entry("integrated", device_kind::integrated),  entry("partition", device_kind::partition),
    entry("virtual", device_kind::virtual_device),
};

inline constexpr std::array memory_kind_words = {
    entry("unknown", memory_kind::unknown),
    entry("dedicated", memory_kind::dedicated),
    entry("unified", memory_kind::unified),
    entry("coherent", memory_kind::coherent),
};

inline constexpr std::array state_words = {
    entry("ready", state::ready),
    entry("asleep", state::asleep),
    entry("lost", state::lost),
    entry("unreadable", state::unreadable),
};

inline constexpr std::array pool_kind_words = {
    entry("vram", pool_kind::vram),     entry("vram_visible", pool_kind::vram_visible),
    entry("host", pool_kind::host),     entry("unified", pool_kind::unified),
    entry("stolen", pool_kind::stolen),
};

inline constexpr std::array status_words = {
    entry("no_memory", status::no_memory),   entry("unsupported", status::unsupported),
    entry("no_source", status::no_source),   entry("no_device", status::no_device),
    entry("no_process", status::no_process), entry("permission", status::permission),
    entry("timeout", status::timeout),       entry("device_lost", status::device_lost),
    entry("backend", status::backend),       entry("limit", status::limit),
    entry("overflow", status::overflow),     entry("asleep", status::asleep),
};

inline constexpr std::array domain_words = {
    entry("errno", native_domain::error_number),
    entry("nvml", native_domain::nvml),
    entry("exit", native_domain::exit),
};

inline constexpr std::array usage_kind_words = {
    entry("compute", usage_kind::compute),
    entry("graphics", usage_kind::graphics),
    entry("media", usage_kind::media),
};

inline constexpr std::array pool_field_words = {
    entry("total", 1U << 0),    entry("free", 1U << 1),   entry("used", 1U << 2),
    entry("reserved", 1U << 3), entry("usable", 1U << 4), entry("budget", 1U << 5),
};

inline constexpr std::array usage_field_words = {entry("used", 1U << 0)};

template <class S>
struct bytes_key {
  std::string_view name;
  std::optional<std::uint64_t> S::*member;
  std::uint32_t field = 0;
};

inline constexpr std::array pool_bytes = {
    bytes_key<pool>{"total", &pool::total, 1U << 0},
    bytes_key<pool>{"free", &pool::free, 1U << 1},
    bytes_key<pool>{"used", &pool::used, 1U << 2},
    bytes_key<pool>{"reserved", &pool::reserved, 1U << 3},
    bytes_key<pool>{"usable", &pool::usable, 1U << 4},
    bytes_key<pool>{"budget", &pool::budget, 1U << 5},
};

inline constexpr std::array usage_bytes = {
    bytes_key<usage>{"used", &usage::used},
    bytes_key<usage>{"peak_used", &usage::peak_used},
    bytes_key<usage>{"resident", &usage::resident},
    bytes_key<usage>{"committed", &usage::committed},
    bytes_key<usage>{"allocated", &usage::allocated},
    bytes_key<usage>{"shared", &usage::shared},
    bytes_key<usage>{"purgeable", &usage::purgeable},
    bytes_key<usage>{"evicted", &usage::evicted},
    bytes_key<usage>{"host_pool", &usage::host_pool},
    bytes_key<usage>{"budget", &usage::budget},
    bytes_key<usage>{"host_resident", &usage::host_resident},
};

namespace host_field = process_memory_field;
inline constexpr std::array process_bytes = {
    bytes_key<process_memory>{"resident", &process_memory::resident, host_field::resident},
    bytes_key<process_memory>{"peak_resident", &process_memory::peak_resident,
                              host_field::peak_resident},
    bytes_key<process_memory>{"virtual", &process_memory::virtual_size, host_field::virtual_size},
    bytes_key<process_memory>{"swap", &process_memory::swap, host_field::swap},
    bytes_key<process_memory>{"proportional", &process_memory::proportional,
                              host_field::proportional},
    bytes_key<process_memory>{"private", &process_memory::private_set, host_field::private_set},
    bytes_key<process_memory>{"committed", &process_memory::committed, host_field::committed},
    bytes_key<process_memory>{"footprint", &process_memory::footprint, host_field::footprint},
    bytes_key<process_memory>{"peak_footprint", &process_memory::peak_footprint,
                              host_field::peak_footprint},
    bytes_key<process_memory>{"peak_committed", &process_memory::peak_committed,
                              host_field::peak_committed},
};

inline constexpr std::array system_bytes = {
    bytes_key<system_memory>{"total", &system_memory::total},
    bytes_key<system_memory>{"available", &system_memory::available},
    bytes_key<system_memory>{"swap_total", &system_memory::swap_total},
    bytes_key<system_memory>{"swap_free", &system_memory::swap_free},
    bytes_key<system_memory>{"limit", &system_memory::limit},
    bytes_key<system_memory>{"limit_used", &system_memory::limit_used},
    bytes_key<system_memory>{"commit_limit", &system_memory::commit_limit},
    bytes_key<system_memory>{"committed", &system_memory::committed},
};

inline constexpr std::array pressure_words = {
    entry("normal", memory_pressure::normal),
    entry("warning", memory_pressure::warning),
    entry("critical", memory_pressure::critical),
};

struct real_key {
  std::string_view name;
  std::optional<double> telemetry::*member;
  std::uint32_t field;
  double low;
  double high;
};

inline constexpr double absolute_zero = -273;
inline constexpr double hottest = 1e4;
inline constexpr double largest = 1e15;
namespace load_field = telemetry_field;
inline constexpr std::array telemetry_reals = {
    real_key{"gpu_busy_percent", &telemetry::gpu_busy_percent, load_field::gpu_busy, 0, 100},
    real_key{"memory_busy_percent", &telemetry::memory_busy_percent, load_field::memory_busy, 0,
             100},
    real_key{"encoder_busy_percent", &telemetry::encoder_busy_percent, load_field::encoder_busy, 0,
             100},
    real_key{"decoder_busy_percent", &telemetry::decoder_busy_percent, load_field::decoder_busy, 0,
             100},
    real_key{"temperature_celsius", &telemetry::temperature_celsius, load_field::temperature,
             absolute_zero, hottest},
    real_key{"hotspot_celsius", &telemetry::hotspot_celsius, load_field::hotspot, absolute_zero,
             hottest},
    real_key{"memory_celsius", &telemetry::memory_celsius, load_field::memory_temperature,
             absolute_zero, hottest},
    real_key{"power_watts", &telemetry::power_watts, load_field::power, 0, largest},
    real_key{"power_limit_watts", &telemetry::power_limit_watts, load_field::power_limit, 0,
             largest},
    real_key{"energy_joules", &telemetry::energy_joules, load_field::energy, 0, largest},
};

struct count_key {
  std::string_view name;
  std::optional<std::uint32_t> telemetry::*member;
  std::uint32_t field;
};

inline constexpr std::array telemetry_counts = {
    count_key{"core_clock_mhz", &telemetry::core_clock_mhz, load_field::core_clock},
    count_key{"memory_clock_mhz", &telemetry::memory_clock_mhz, load_field::memory_clock},
    count_key{"fan_percent", &telemetry::fan_percent, load_field::fan_percent},
    count_key{"fan_rpm", &telemetry::fan_rpm, load_field::fan_rpm},
    count_key{"pcie_generation", &telemetry::pcie_generation, load_field::pcie_generation},
    count_key{"pcie_width", &telemetry::pcie_width, load_field::pcie_width},
    count_key{"p_state", &telemetry::p_state, load_field::p_state},
};

inline constexpr std::string_view throttle_key = "throttle";
inline constexpr std::array throttle_words = {
    entry("idle", throttle::idle),       entry("power", throttle::power),
    entry("thermal", throttle::thermal), entry("hardware", throttle::hardware),
    entry("setting", throttle::setting), entry("other", throttle::other),
};

struct total_key {
  std::string_view name;
  std::optional<std::uint64_t> telemetry::*member;
  std::uint32_t field;
};

inline constexpr std::array telemetry_totals = {
    total_key{"pcie_rx_bytes", &telemetry::pcie_rx_bytes, load_field::pcie_rx},
    total_key{"pcie_tx_bytes", &telemetry::pcie_tx_bytes, load_field::pcie_tx},
    total_key{"window_ns", &telemetry::window_ns, load_field::window},
};

}  // namespace hmn::simulated
