// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded folders of cards, replayed through the C interface and compared with the index.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "../sized.hpp"
#include "abi/support/keys.h"
#include "recorded.hpp"

using recorded::Entry;

namespace {

struct Machine {
  explicit Machine(const std::string& folder) {
    auto options = sized<hmn_context_options>();
    options.flags = HMN_CONTEXT_NO_THREADS;
    REQUIRE(hmn_context_create(&options, &context, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context, HMN_PATH_SIMULATION, folder.c_str(), nullptr) == HMN_OK);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { hmn_context_destroy(context); }
  hmn_context* context = nullptr;
};

std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

// Value of `key`; null in the index: the card has no such value, and none is reported.
void check_value(const Entry& entry, const char* key, bool is_there, double value) {
  CAPTURE(key);
  if (!entry.expected.contains(key)) return;
  CHECK(is_there == entry.has(key));
  if (is_there && entry.has(key)) {
    CHECK(value == doctest::Approx(entry.expected.at(key).get<double>()));
  }
}

void check_identity(const Entry& entry, const Machine& machine) {
  auto device = sized<hmn_device>();
  REQUIRE(hmn_device_read(machine.context, 0, 0, &device, nullptr) == HMN_OK);
  CHECK(std::string(device.pci_bus_id) == entry.expected.at("pci_slot").get<std::string>());
  const auto id = entry.expected.at("pci_id").get<std::string>();  // "1002:73BF"
  CHECK(device.vendor == std::stoul(id.substr(0, 4), nullptr, 16));
  REQUIRE((device.present & HMN_DEVICE_HAS_PCI_DEVICE) != 0);
  CHECK(device.pci_device == std::stoul(id.substr(5), nullptr, 16));
}

void check_telemetry(const Entry& entry, const Machine& machine) {
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(machine.context, 0, 0, &telemetry, nullptr) == HMN_OK);
  const auto has = [&telemetry](hmn_flags bit) { return (telemetry.present & bit) != 0; };
  check_value(entry, "gpu_busy_pct", has(HMN_TELEMETRY_HAS_GPU_BUSY), telemetry.gpu_busy_percent);
  check_value(entry, "mem_busy_pct", has(HMN_TELEMETRY_HAS_MEMORY_BUSY),
              telemetry.memory_busy_percent);
  check_value(entry, "temp_edge_c", has(HMN_TELEMETRY_HAS_TEMPERATURE),
              telemetry.temperature_celsius);
  check_value(entry, "temp_junction_c", has(HMN_TELEMETRY_HAS_HOTSPOT), telemetry.hotspot_celsius);
  check_value(entry, "temp_mem_c", has(HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE),
              telemetry.memory_celsius);
  check_value(entry, "power1_average_w", has(HMN_TELEMETRY_HAS_POWER), telemetry.power_watts);
  check_value(entry, "power1_cap_w", has(HMN_TELEMETRY_HAS_POWER_LIMIT),
              telemetry.power_limit_watts);
  check_value(entry, "fan_rpm", has(HMN_TELEMETRY_HAS_FAN_RPM), telemetry.fan_rpm);
  check_value(entry, "act_freq_mhz", has(HMN_TELEMETRY_HAS_CORE_CLOCK), telemetry.core_clock_mhz);
}

void check_clock(const Entry& entry, const Machine& machine, const char* key, std::uint32_t metric,
                 std::uint32_t instance) {
  auto clock = sized<hmn_metric>();
  const auto status = read_metric(machine.context, 0, metric, instance, &clock, nullptr);
  check_value(entry, key, status == HMN_OK, clock.value);
}

void check_pool(const Entry& entry, const Machine& machine, std::uint32_t kind, const char* total,
                const char* used) {
  auto pool = sized<hmn_pool>();
  const bool is_there = hmn_pool_read(machine.context, 0, kind, 0, 0, &pool, nullptr) == HMN_OK;
  check_value(entry, total, is_there && (pool.present & HMN_POOL_HAS_TOTAL) != 0,
              static_cast<double>(pool.total_bytes));
  check_value(entry, used, is_there && (pool.present & HMN_POOL_HAS_USED) != 0,
              static_cast<double>(pool.used_bytes));
}

}  // namespace

TEST_CASE("recorded folders of cards replay the values of their index") {
  int trees = 0;
  for (const char* prefix : {"amdgpu-sysfs/", "i915-xe-sysfs/"}) {
    for (const Entry& entry : recorded::find_all(prefix)) {
      if (!entry.file.ends_with('/')) continue;
      CAPTURE(entry.file);
      const Machine machine(without_slash(entry.path()));
      std::uint32_t count = 0;
      REQUIRE(hmn_device_scan(machine.context, &count, nullptr, nullptr) == HMN_OK);
      REQUIRE(count == 1);
      check_identity(entry, machine);
      check_telemetry(entry, machine);
      check_clock(entry, machine, "cur_freq_mhz", HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_REQUESTED);
      check_clock(entry, machine, "max_freq_mhz", HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_CORE);
      check_pool(entry, machine, HMN_POOL_VRAM, "vram_total_bytes", "vram_used_bytes");
      check_pool(entry, machine, HMN_POOL_VRAM, "vram_bytes", "");
      check_pool(entry, machine, HMN_POOL_VRAM_VISIBLE, "vis_vram_total_bytes", "");
      check_pool(entry, machine, HMN_POOL_HOST, "gtt_total_bytes", "gtt_used_bytes");
      ++trees;
    }
  }
  CHECK(trees == 11);
}
