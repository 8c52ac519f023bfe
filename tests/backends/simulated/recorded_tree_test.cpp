// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded folders of cards, replayed through the public interface: what the index says of them.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "recorded.hpp"

using recorded::entry;

namespace {

template <class T>
T sized() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}

struct machine {
  explicit machine(const std::string& folder) {
    auto o = sized<hmn_context_options>();
    o.flags = HMN_CONTEXT_NO_THREADS;
    REQUIRE(hmn_context_create(&o, &context, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context, HMN_PATH_SIMULATION, folder.c_str(), nullptr) == HMN_OK);
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine() { hmn_context_destroy(context); }
  hmn_context* context = nullptr;
};

std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

// What `key` says; absent: null, as a card that lacks the value.
void check_figure(const entry& e, const char* key, bool is_there, double value) {
  CAPTURE(key);
  if (!e.has(key)) return;
  REQUIRE(is_there);
  CHECK(value == doctest::Approx(e.expected.at(key).get<double>()));
}

void check_identity(const entry& e, const machine& m) {
  auto d = sized<hmn_device>();
  REQUIRE(hmn_device_read(m.context, 0, &d, nullptr) == HMN_OK);
  CHECK(std::string(d.pci_bus_id) == e.expected.at("pci_slot").get<std::string>());
  const auto id = e.expected.at("pci_id").get<std::string>();  // "1002:73BF"
  CHECK(d.vendor == std::stoul(id.substr(0, 4), nullptr, 16));
  REQUIRE((d.present & HMN_DEVICE_HAS_PCI_DEVICE) != 0);
  CHECK(d.pci_device == std::stoul(id.substr(5), nullptr, 16));
}

void check_telemetry(const entry& e, const machine& m) {
  auto t = sized<hmn_telemetry>();
  if (hmn_telemetry_read(m.context, 0, 0, &t, nullptr) != HMN_OK) {
    CHECK_FALSE(e.has("temp_edge_c"));
    return;
  }
  check_figure(e, "temp_edge_c", (t.present & HMN_TELEMETRY_HAS_TEMPERATURE) != 0,
               t.temperature_celsius);
  check_figure(e, "power1_average_w", (t.present & HMN_TELEMETRY_HAS_POWER) != 0, t.power_watts);
  check_figure(e, "power1_cap_w", (t.present & HMN_TELEMETRY_HAS_POWER_LIMIT) != 0,
               t.power_limit_watts);
  check_figure(e, "fan_rpm", (t.present & HMN_TELEMETRY_HAS_FAN_RPM) != 0, t.fan_rpm);
}

// A driver of its own tells the pools; where none does, none is claimed.
void check_pool(const entry& e, const machine& m) {
  auto p = sized<hmn_pool>();
  if (hmn_pool_read(m.context, 0, HMN_POOL_VRAM, &p, nullptr) != HMN_OK) return;
  if ((p.present & HMN_POOL_HAS_TOTAL) == 0) return;
  REQUIRE(e.has("vram_total_bytes"));
  CHECK(p.total_bytes == e.number("vram_total_bytes"));
  CHECK(p.used_bytes == e.number("vram_used_bytes"));
}

}  // namespace

TEST_CASE("recorded folders of cards") {
  int trees = 0;
  for (const char* prefix : {"amdgpu-sysfs/", "i915-xe-sysfs/"}) {
    for (const entry& e : recorded::all(prefix)) {
      if (!e.file.ends_with('/')) continue;
      CAPTURE(e.file);
      const machine m(without_slash(e.path()));
      std::uint32_t count = 0;
      REQUIRE(hmn_device_count(m.context, &count, nullptr) == HMN_OK);
      REQUIRE(count == 1);
      check_identity(e, m);
      check_telemetry(e, m);
      check_pool(e, m);
      ++trees;
    }
  }
  CHECK(trees == 11);
}
