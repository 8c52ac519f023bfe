// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded cards, linked file by file into a fake tree, yield the values of their index.
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

// <entry>/card<N>: the files of its device and of the card itself.
void link_files(const hmn_fake::Tree& tree, const fs::path& source, const std::string& target) {
  for (const auto& file : fs::recursive_directory_iterator(source)) {
    if (!file.is_regular_file()) continue;
    tree.link(target + "/" + fs::relative(file.path(), source).string(), file.path().string());
  }
}

void add_recorded(Machine& machine, const Entry& entry) {
  hmn_fake::PciDevice device;
  device.address = entry.expected.at("pci_slot").get<std::string>();
  device.vendor = 0x8086;
  device.driver = entry.expected.at("driver").get<std::string>();
  machine.add_pci(device, {card0, render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder(device.address);
  for (const auto& card : fs::directory_iterator(entry.path())) {
    link_files(machine.tree(), card.path() / "device", folder);
    for (const auto& file : fs::directory_iterator(card.path())) {
      const std::string name = file.path().filename().string();
      const std::string target = folder + "/drm/card0/" + name;
      if (name == "device") continue;
      if (file.is_directory()) link_files(machine.tree(), file.path(), target);
      if (file.is_regular_file()) machine.tree().link(target, file.path().string());
    }
  }
}

std::optional<double> find_value(const std::vector<Metric>& metrics, MetricId id,
                                 std::uint32_t instance) {
  for (const Metric& metric : metrics) {
    if (metric.id == id && metric.instance == instance) return metric.value;
  }
  return std::nullopt;
}

void check_temperatures(const nlohmann::json& sensors, const Telemetry& telemetry) {
  for (const auto& [file, value] : sensors.items()) {
    CAPTURE(file);
    const bool is_memory = value.at("label") == "vram";
    if (!file.starts_with("temp")) continue;
    const auto temperature = is_memory ? telemetry.memory_celsius : telemetry.temperature_celsius;
    CHECK(temperature == doctest::Approx(value.at("value").get<double>()));
  }
}

void check_energy(const nlohmann::json& sensors, const Telemetry& telemetry) {
  std::optional<double> energy;
  for (const auto& [file, value] : sensors.items()) {
    if (file.starts_with("energy") && value.at("value") != 0) {
      CHECK_FALSE(energy);
      energy = value.at("value").get<double>();
    }
  }
  REQUIRE(energy);
  CHECK(telemetry.energy_joules == doctest::Approx(*energy));
}

void check_limit(const nlohmann::json& sensors, const Telemetry& telemetry) {
  std::optional<double> limit;
  for (const auto& [file, value] : sensors.items()) {
    if (file.ends_with("_max")) limit = value.at("value").get<double>();
  }
  CHECK(telemetry.power_limit_watts.has_value() == limit.has_value());
  if (limit) CHECK(telemetry.power_limit_watts == doctest::Approx(*limit));
}

void check_fans(const nlohmann::json& sensors, const std::vector<Metric>& metrics) {
  for (const auto& [file, value] : sensors.items()) {
    if (!file.starts_with("fan")) continue;
    CAPTURE(file);
    const auto number = static_cast<std::uint32_t>(file[3] - '0');
    CHECK(find_value(metrics, MetricId::fan_rpm, number) ==
          doctest::Approx(value.at("value").get<double>()));
  }
}

}  // namespace

TEST_CASE("recorded cards yield the values of their index") {
  int cards = 0;
  for (const Entry& entry : recorded::find_all("i915-xe-sysfs/lact-")) {
    CAPTURE(entry.file);
    ++cards;
    Machine machine;
    add_recorded(machine, entry);
    PlainReading reading;
    const auto devices = machine.devices(reading);
    REQUIRE(devices.size() == 1);
    const bool has_chip = entry.expected.contains("hwmon");
    CHECK(devices[0].source == (entry.expected.at("driver") == "xe" ? Source::xe : Source::i915));
    CHECK(devices[0].form == (has_chip ? DeviceForm::discrete : DeviceForm::integrated));
    CHECK(devices[0].pci_bus_id.view() == entry.expected.at("pci_slot").get<std::string>());
    Telemetry telemetry;
    REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
    CHECK(telemetry.core_clock_mhz == entry.number("act_freq_mhz"));
    std::vector<Metric> metrics;
    REQUIRE(machine.source().metrics(0, true, metrics, reading));
    CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::requested) ==
          doctest::Approx(static_cast<double>(entry.number("cur_freq_mhz"))));
    CHECK(find_value(metrics, MetricId::clock_limit_mhz, metric_instance::clock::core) ==
          doctest::Approx(static_cast<double>(entry.number("max_freq_mhz"))));
    CHECK_FALSE(telemetry.power_watts);
    // Each link is 2.5 GT/s x1, to a switch that was not recorded.
    CHECK_FALSE(telemetry.pcie_generation);
    CHECK_FALSE(telemetry.pcie_width);
    if (!has_chip) {
      CHECK_FALSE(telemetry.energy_joules);
      continue;
    }
    CHECK(telemetry.throttle == 0u);
    check_temperatures(entry.expected.at("hwmon"), telemetry);
    check_energy(entry.expected.at("hwmon"), telemetry);
    check_limit(entry.expected.at("hwmon"), telemetry);
    check_fans(entry.expected.at("hwmon"), metrics);
  }
  CHECK(cards == 4);
}

// Memory of one client of a recorded driver, on a card or an integrated device.
TEST_CASE("recorded clients yield the memory of their index") {
  struct RecordedClient {
    const char* file;
    const char* driver;
    const char* address;
    std::optional<std::uint64_t> used;
  };
  const auto bytes = [](const Entry& entry, const char* key) {
    return entry.expected.at("memory_bytes").at(key).get<std::uint64_t>();
  };
  const Entry arc = recorded::find_one("drm-fdinfo/i915-arc-a310.txt");
  const Entry page = recorded::find_one("drm-fdinfo/i915-manpage-system0.txt");
  const RecordedClient clients[] = {
      {"drm-fdinfo/i915-arc-a310.txt", "i915", "0000:03:00.0",
       bytes(arc, "drm-resident-local0") + bytes(arc, "drm-resident-stolen-local0")},
      {"drm-fdinfo/i915-manpage-system0.txt", "i915", "0000:00:02.0",
       bytes(page, "drm-resident-system0") + bytes(page, "drm-resident-stolen-system0")},
      {"drm-fdinfo/i915-2022-engines-only.txt", "i915", "0000:00:02.0", std::nullopt},
      {"drm-fdinfo/xe-lunarlake-cycles-only.txt", "xe", "0000:00:02.0", std::nullopt},
  };
  for (const RecordedClient& client : clients) {
    CAPTURE(client.file);
    Machine machine;
    hmn_fake::PciDevice card;
    card.address = client.address;
    card.vendor = 0x8086;
    card.driver = client.driver;
    machine.add_pci(card, {card0, render128});
    machine.add_process(10, {{3, "/dev/null", recorded::find_one(client.file).text()}});
    PlainReading reading;
    machine.devices(reading);
    const auto rows = machine.rows(0, reading);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == client.used);
    CHECK((reading.find("memory of clients is not reported") != nullptr) == !client.used);
  }
}
