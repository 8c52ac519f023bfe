// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded folders of cards, replayed through the public interface and compared with the index.
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
    auto o = sized<hmn_context_options>();
    o.flags = HMN_CONTEXT_NO_THREADS;
    REQUIRE(hmn_context_create(&o, &context, nullptr) == HMN_OK);
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

// Value of `key`; null: the card has no such value, and none is reported.
void check_value(const Entry& e, const char* key, bool is_there, double value) {
  CAPTURE(key);
  if (!e.expected.contains(key)) return;
  CHECK(is_there == e.has(key));
  if (is_there && e.has(key)) {
    CHECK(value == doctest::Approx(e.expected.at(key).get<double>()));
  }
}

void check_identity(const Entry& e, const Machine& m) {
  auto d = sized<hmn_device>();
  REQUIRE(hmn_device_read(m.context, 0, 0, &d, nullptr) == HMN_OK);
  CHECK(std::string(d.pci_bus_id) == e.expected.at("pci_slot").get<std::string>());
  const auto id = e.expected.at("pci_id").get<std::string>();  // "1002:73BF"
  CHECK(d.vendor == std::stoul(id.substr(0, 4), nullptr, 16));
  REQUIRE((d.present & HMN_DEVICE_HAS_PCI_DEVICE) != 0);
  CHECK(d.pci_device == std::stoul(id.substr(5), nullptr, 16));
}

void check_telemetry(const Entry& e, const Machine& m) {
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(m.context, 0, 0, &t, nullptr) == HMN_OK);
  const auto has = [&t](hmn_flags bit) { return (t.present & bit) != 0; };
  check_value(e, "gpu_busy_pct", has(HMN_TELEMETRY_HAS_GPU_BUSY), t.gpu_busy_percent);
  check_value(e, "mem_busy_pct", has(HMN_TELEMETRY_HAS_MEMORY_BUSY), t.memory_busy_percent);
  check_value(e, "temp_edge_c", has(HMN_TELEMETRY_HAS_TEMPERATURE), t.temperature_celsius);
  check_value(e, "temp_junction_c", has(HMN_TELEMETRY_HAS_HOTSPOT), t.hotspot_celsius);
  check_value(e, "temp_mem_c", has(HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE), t.memory_celsius);
  check_value(e, "power1_average_w", has(HMN_TELEMETRY_HAS_POWER), t.power_watts);
  check_value(e, "power1_cap_w", has(HMN_TELEMETRY_HAS_POWER_LIMIT), t.power_limit_watts);
  check_value(e, "fan_rpm", has(HMN_TELEMETRY_HAS_FAN_RPM), t.fan_rpm);
  check_value(e, "act_freq_mhz", has(HMN_TELEMETRY_HAS_CORE_CLOCK), t.core_clock_mhz);
}

void check_clock(const Entry& e, const Machine& m, const char* key, std::uint32_t metric,
                 std::uint32_t instance) {
  auto clock = sized<hmn_metric>();
  const auto said = read_metric(m.context, 0, metric, instance, &clock, nullptr);
  check_value(e, key, said == HMN_OK, clock.value);
}

void check_pool(const Entry& e, const Machine& m, std::uint32_t kind, const char* total,
                const char* used) {
  auto p = sized<hmn_pool>();
  const bool is_there = hmn_pool_read(m.context, 0, kind, 0, 0, &p, nullptr) == HMN_OK;
  check_value(e, total, is_there && (p.present & HMN_POOL_HAS_TOTAL) != 0,
              static_cast<double>(p.total_bytes));
  check_value(e, used, is_there && (p.present & HMN_POOL_HAS_USED) != 0,
              static_cast<double>(p.used_bytes));
}

}  // namespace

TEST_CASE("recorded folders of cards") {
  int trees = 0;
  for (const char* prefix : {"amdgpu-sysfs/", "i915-xe-sysfs/"}) {
    for (const Entry& e : recorded::all(prefix)) {
      if (!e.file.ends_with('/')) continue;
      CAPTURE(e.file);
      const Machine m(without_slash(e.path()));
      std::uint32_t count = 0;
      REQUIRE(hmn_device_scan(m.context, &count, nullptr, nullptr) == HMN_OK);
      REQUIRE(count == 1);
      check_identity(e, m);
      check_telemetry(e, m);
      check_clock(e, m, "cur_freq_mhz", HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_REQUESTED);
      check_clock(e, m, "max_freq_mhz", HMN_METRIC_CLOCK_LIMIT_MHZ, HMN_CLOCK_CORE);
      check_pool(e, m, HMN_POOL_VRAM, "vram_total_bytes", "vram_used_bytes");
      check_pool(e, m, HMN_POOL_VRAM, "vram_bytes", "");
      check_pool(e, m, HMN_POOL_VRAM_VISIBLE, "vis_vram_total_bytes", "");
      check_pool(e, m, HMN_POOL_HOST, "gtt_total_bytes", "gtt_used_bytes");
      ++trees;
    }
  }
  CHECK(trees == 11);
}
