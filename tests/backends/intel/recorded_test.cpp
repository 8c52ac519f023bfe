// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded cards, file by file in a tree of their own, yield what is in their index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "../drm/machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using drm_test::card0;
using drm_test::Machine;
using drm_test::PlainReading;
using drm_test::render128;
using recorded::Entry;
namespace fs = std::filesystem;

namespace {

// <entry>/card<N>: its device's files, and those of the card itself.
void link_files(const hmn_fake::Tree& t, const fs::path& from, const std::string& to) {
  for (const auto& found : fs::recursive_directory_iterator(from)) {
    if (!found.is_regular_file()) continue;
    t.link(to + "/" + fs::relative(found.path(), from).string(), found.path().string());
  }
}

void add_recorded(Machine& m, const Entry& e) {
  hmn_fake::PciDevice d;
  d.address = e.expected.at("pci_slot").get<std::string>();
  d.vendor = 0x8086;
  d.driver = e.expected.at("driver").get<std::string>();
  m.add_pci(d, {card0, render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder(d.address);
  for (const auto& card : fs::directory_iterator(e.path())) {
    link_files(m.tree(), card.path() / "device", folder);
    for (const auto& part : fs::directory_iterator(card.path())) {
      const std::string name = part.path().filename().string();
      const std::string to = folder + "/drm/card0/" + name;
      if (name == "device") continue;
      if (part.is_directory()) link_files(m.tree(), part.path(), to);
      if (part.is_regular_file()) m.tree().link(to, part.path().string());
    }
  }
}

std::optional<double> metric_of(const std::vector<Metric>& all, MetricId id,
                                std::uint32_t instance) {
  for (const Metric& m : all) {
    if (m.id == id && m.instance == instance) return m.value;
  }
  return std::nullopt;
}

void check_temperatures(const nlohmann::json& sensors, const Telemetry& t) {
  for (const auto& [file, value] : sensors.items()) {
    CAPTURE(file);
    const bool is_memory = value.at("label") == "vram";
    if (!file.starts_with("temp")) continue;
    const auto reported = is_memory ? t.memory_celsius : t.temperature_celsius;
    CHECK(reported == doctest::Approx(value.at("value").get<double>()));
  }
}

void check_energy(const nlohmann::json& sensors, const Telemetry& t) {
  std::optional<double> counted;
  for (const auto& [file, value] : sensors.items()) {
    if (file.starts_with("energy") && value.at("value") != 0) {
      CHECK_FALSE(counted);
      counted = value.at("value").get<double>();
    }
  }
  REQUIRE(counted);
  CHECK(t.energy_joules == doctest::Approx(*counted));
}

void check_limit(const nlohmann::json& sensors, const Telemetry& t) {
  std::optional<double> limit;
  for (const auto& [file, value] : sensors.items()) {
    if (file.ends_with("_max")) limit = value.at("value").get<double>();
  }
  CHECK(t.power_limit_watts.has_value() == limit.has_value());
  if (limit) CHECK(t.power_limit_watts == doctest::Approx(*limit));
}

void check_fans(const nlohmann::json& sensors, const std::vector<Metric>& all) {
  for (const auto& [file, value] : sensors.items()) {
    if (!file.starts_with("fan")) continue;
    CAPTURE(file);
    const auto number = static_cast<std::uint32_t>(file[3] - '0');
    CHECK(metric_of(all, MetricId::fan_rpm, number) ==
          doctest::Approx(value.at("value").get<double>()));
  }
}

}  // namespace

TEST_CASE("recorded cards") {
  int cards = 0;
  for (const Entry& e : recorded::all("i915-xe-sysfs/lact-")) {
    CAPTURE(e.file);
    ++cards;
    Machine m;
    add_recorded(m, e);
    PlainReading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    const bool has_chip = e.expected.contains("hwmon");
    CHECK(found[0].from == (e.expected.at("driver") == "xe" ? Source::xe : Source::i915));
    CHECK(found[0].form == (has_chip ? DeviceForm::discrete : DeviceForm::integrated));
    CHECK(found[0].pci_bus_id.view() == e.expected.at("pci_slot").get<std::string>());
    Telemetry t;
    REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
    CHECK(t.core_clock_mhz == e.number("act_freq_mhz"));
    std::vector<Metric> all;
    REQUIRE(m.source().metrics(0, true, all, r));
    CHECK(metric_of(all, MetricId::clock_mhz, which::clock::requested) ==
          doctest::Approx(static_cast<double>(e.number("cur_freq_mhz"))));
    CHECK(metric_of(all, MetricId::clock_limit_mhz, which::clock::core) ==
          doctest::Approx(static_cast<double>(e.number("max_freq_mhz"))));
    CHECK_FALSE(t.power_watts);
    // Each is 2.5 GT/s x1, to a switch that was not recorded.
    CHECK_FALSE(t.pcie_generation);
    CHECK_FALSE(t.pcie_width);
    if (!has_chip) {
      CHECK_FALSE(t.energy_joules);
      continue;
    }
    CHECK(t.throttle == 0u);
    check_temperatures(e.expected.at("hwmon"), t);
    check_energy(e.expected.at("hwmon"), t);
    check_limit(e.expected.at("hwmon"), t);
    check_fans(e.expected.at("hwmon"), all);
  }
  CHECK(cards == 4);
}

// What one client of a recorded driver uses, on a card or an integrated device.
TEST_CASE("recorded clients") {
  struct One {
    const char* file;
    const char* driver;
    const char* address;
    std::optional<std::uint64_t> used;
  };
  const auto bytes = [](const Entry& e, const char* key) {
    return e.expected.at("memory_bytes").at(key).get<std::uint64_t>();
  };
  const Entry arc = recorded::one("drm-fdinfo/i915-arc-a310.txt");
  const Entry page = recorded::one("drm-fdinfo/i915-manpage-system0.txt");
  const One all[] = {
      {"drm-fdinfo/i915-arc-a310.txt", "i915", "0000:03:00.0",
       bytes(arc, "drm-resident-local0") + bytes(arc, "drm-resident-stolen-local0")},
      {"drm-fdinfo/i915-manpage-system0.txt", "i915", "0000:00:02.0",
       bytes(page, "drm-resident-system0") + bytes(page, "drm-resident-stolen-system0")},
      {"drm-fdinfo/i915-2022-engines-only.txt", "i915", "0000:00:02.0", std::nullopt},
      {"drm-fdinfo/xe-lunarlake-cycles-only.txt", "xe", "0000:00:02.0", std::nullopt},
  };
  for (const One& o : all) {
    CAPTURE(o.file);
    Machine m;
    hmn_fake::PciDevice d;
    d.address = o.address;
    d.vendor = 0x8086;
    d.driver = o.driver;
    m.add_pci(d, {card0, render128});
    m.add_process(10, {{3, "/dev/null", recorded::one(o.file).text()}});
    PlainReading r;
    m.devices(r);
    const auto rows = m.rows(0, r);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == o.used);
    CHECK((r.find("memory of clients is not reported") != nullptr) == !o.used);
  }
}
