// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recordings of the two commands yield what is in their index; text in every other form than JSON
// is refused with a reason and no card.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "backends/amd_tool/answer.hpp"
#include "machine.hpp"
#include "model/character.hpp"
#include "model/pci_address.hpp"

using namespace hmn;
using namespace hmn::amd_tool;
using amd_test::Machine;
using amd_test::PlainReading;
using Json = nlohmann::json;
using recorded::Entry;

namespace {

bool is_json(const Entry& entry) {
  return entry.file.ends_with(".json");
}

void check_number(const Json& expected, const char* key, const FieldAmount& actual) {
  CAPTURE(key);
  if (!expected.contains(key)) return;
  if (expected.at(key).is_null()) {
    CHECK_FALSE(actual.has_value());
    return;
  }
  REQUIRE(actual.has_value());
  CHECK(std::fabs(actual.number - expected.at(key).get<double>()) < 1e-9);
}

void check_bytes(const Json& expected, const char* key, const FieldAmount& actual) {
  check_number(expected, key, actual);
  if (!expected.contains(key) || expected.at(key).is_null()) return;
  CHECK(actual.whole == expected.at(key).get<std::uint64_t>());
}

void check_values(const Json& expected, const Card& card) {
  check_bytes(expected, "vram_total_bytes", card[Field::vram_total]);
  check_bytes(expected, "vram_used_bytes", card[Field::vram_used]);
  check_number(expected, "gpu_use_pct", card[Field::gpu_busy]);
  check_number(expected, "gfx_pct", card[Field::gpu_busy]);
  check_number(expected, "temp_edge_c", card[Field::edge]);
  check_number(expected, "temp_junction_c", card[Field::hotspot]);
  check_number(expected, "temp_hotspot_c", card[Field::hotspot]);
  check_number(expected, "temp_mem_c", card[Field::memory_temperature]);
  check_number(expected, "power_limit_w", card[Field::power_limit]);
  check_number(expected, "fan_pct", card[Field::fan_percent]);
  const bool is_average = card[Field::average_power].has_value();
  check_number(expected, "power_w", card[is_average ? Field::average_power : Field::package_power]);
  if (expected.contains("throttle")) {
    CHECK((expected.at("throttle") == "UNTHROTTLED") == card[Field::throttle].has_value());
  }
}

// A text that is null in the index is absent.
void check_text(const Json& expected, const char* key, std::string_view actual) {
  CAPTURE(key);
  if (!expected.contains(key)) return;
  CHECK(actual ==
        (expected.at(key).is_null() ? "" : hmn::lower_case(expected.at(key).get<std::string>())));
}

void check_identity(const Json& expected, const Card& card) {
  const FieldAmount& name = card[Field::name];
  check_text(expected, "name", name.has_value() ? hmn::lower_case(name.text.view()) : "");
  for (const char* key : {"pci_bus", "pci_bus_id", "bdf"}) {
    check_text(expected, key, normalize_pci_address(card[Field::bus].text.view()).view());
  }
  if (expected.contains("unique_id")) {
    CHECK(card[Field::unique_id].whole ==
          std::stoull(expected.at("unique_id").get<std::string>(), nullptr, 16));
  }
}

const Card* find(const Answer& answer, std::uint32_t index) {
  for (const Card& card : answer.cards) {
    if (card.index == index) return &card;
  }
  return nullptr;
}

void check_rocm(const Entry& entry) {
  Answer answer;
  read_answer(rocm_smi, entry.text(), answer);
  CHECK(answer.problems.empty());
  const Json& cards = entry.expected.at("cards");
  CHECK(answer.cards.size() == cards.size());
  for (const auto& [key, expected] : cards.items()) {
    CAPTURE(key);
    const Card* const card = find(answer, static_cast<std::uint32_t>(std::stoul(key.substr(4))));
    REQUIRE(card != nullptr);
    check_values(expected, *card);
    check_identity(expected, *card);
  }
  if (entry.expected.contains("driver_version")) {
    CHECK(answer.driver.view() == entry.expected.at("driver_version").get<std::string>());
  }
  const Json processes = entry.expected.value("processes", Json::array());
  REQUIRE(answer.processes.size() == processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    CHECK(answer.processes[i].pid == processes[i].at("pid").get<std::uint32_t>());
    CHECK(answer.processes[i].name.view() == processes[i].at("name").get<std::string>());
  }
}

void check_amd(const Entry& entry) {
  Answer answer;
  read_answer(amd_smi, entry.text(), answer);
  CHECK(answer.problems.empty());
  const Json& gpus = entry.expected.at("gpus");
  REQUIRE(answer.cards.size() == gpus.size());
  for (const Json& expected : gpus) {
    const Card* const card = find(answer, expected.at("gpu").get<std::uint32_t>());
    REQUIRE(card != nullptr);
    check_values(expected, *card);
    check_identity(expected, *card);
  }
}

// Lists the devices, with the text as every answer of the command.
Result<std::vector<Device>> replay(const char* tool, const Entry& entry, PlainReading& reading) {
  Machine machine(tool);
  machine.script("exec cat '" + entry.path() + "'");
  return machine.devices(reading);
}

Status get_class_status(const std::string& name) {
  if (name == "driver_not_loaded") return Status::no_source;
  if (name == "no_device") return Status::no_device;
  if (name == "usage") return Status::unsupported;
  return Status::backend;
}

void check_refused(const char* tool, const Entry& entry) {
  PlainReading reading;
  const auto devices = replay(tool, entry, reading);
  const bool is_error = entry.expected.value("error", true);
  if (!is_error) {
    REQUIRE(devices);
    CHECK(devices->empty());
    CHECK(reading.diagnostics.size() == entry.expected.at("warnings").get<std::size_t>());
    return;
  }
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == get_class_status(entry.expected.value("error_class", "")));
  CHECK_FALSE(devices.failure().message.view().empty());
}

}  // namespace

TEST_CASE("recorded JSON of rocm-smi from ROCm 3 to 7 yields the values of its index") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("rocm-smi-json/")) {
    if (!is_json(entry)) continue;
    CAPTURE(entry.file);
    check_rocm(entry);
    ++count;
  }
  CHECK(count == 10);
}

TEST_CASE("recorded JSON of amd-smi yields the values of its index") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("amd-smi-json/")) {
    if (!is_json(entry)) continue;
    CAPTURE(entry.file);
    check_amd(entry);
    ++count;
  }
  CHECK(count == 4);
}

TEST_CASE("recorded text in any other form is refused") {
  int count = 0;
  for (const auto& [folder, tool] :
       {std::pair("rocm-smi-json/", "rocm-smi"), std::pair("amd-smi-json/", "amd-smi")}) {
    for (const Entry& entry : recorded::find_all(folder)) {
      if (is_json(entry)) continue;
      CAPTURE(entry.file);
      check_refused(tool, entry);
      ++count;
    }
  }
  CHECK(count == 14);
}

TEST_CASE("recorded: an RX 6600's two answers of amd-smi become one device") {
  const Entry identity = recorded::find_one("amd-smi-json/idx-rx6600-static.json");
  const Entry amounts = recorded::find_one("amd-smi-json/idx-rx6600-metric.json");
  Machine machine("amd-smi");
  machine.print("static", identity.text());
  machine.print("metric", amounts.text());
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  const Json& expected_identity = identity.expected.at("gpus")[0];
  const Json& expected = amounts.expected.at("gpus")[0];
  CHECK((*devices)[0].name.view() == expected_identity.at("name").get<std::string>());
  CHECK((*devices)[0].pci_bus_id.view() == expected_identity.at("bdf").get<std::string>());
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::vram)->total == expected.at("vram_total_bytes").get<std::uint64_t>());
  CHECK(pools.find(PoolKind::vram)->used == expected.at("vram_used_bytes").get<std::uint64_t>());
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == expected.at("gfx_pct").get<double>());
  CHECK(telemetry.temperature_celsius == expected.at("temp_edge_c").get<double>());
  CHECK(telemetry.hotspot_celsius == expected.at("temp_hotspot_c").get<double>());
  CHECK(telemetry.power_watts == expected.at("power_w").get<double>());
  CHECK(telemetry.power_limit_watts == expected_identity.at("power_limit_w").get<double>());
  CHECK(telemetry.fan_percent == 0u);
}
