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
using Record = nlohmann::json;
using recorded::Entry;

namespace {

bool is_json(const Entry& e) {
  return e.file.ends_with(".json");
}

void check_number(const Record& wanted, const char* key, const FieldAmount& found) {
  CAPTURE(key);
  if (!wanted.contains(key)) return;
  if (wanted.at(key).is_null()) {
    CHECK_FALSE(found.has_value());
    return;
  }
  REQUIRE(found.has_value());
  CHECK(std::fabs(found.number - wanted.at(key).get<double>()) < 1e-9);
}

void check_bytes(const Record& wanted, const char* key, const FieldAmount& found) {
  check_number(wanted, key, found);
  if (!wanted.contains(key) || wanted.at(key).is_null()) return;
  CHECK(found.whole == wanted.at(key).get<std::uint64_t>());
}

void check_values(const Record& wanted, const Card& c) {
  check_bytes(wanted, "vram_total_bytes", c[Field::vram_total]);
  check_bytes(wanted, "vram_used_bytes", c[Field::vram_used]);
  check_number(wanted, "gpu_use_pct", c[Field::gpu_busy]);
  check_number(wanted, "gfx_pct", c[Field::gpu_busy]);
  check_number(wanted, "temp_edge_c", c[Field::edge]);
  check_number(wanted, "temp_junction_c", c[Field::hotspot]);
  check_number(wanted, "temp_hotspot_c", c[Field::hotspot]);
  check_number(wanted, "temp_mem_c", c[Field::memory_temperature]);
  check_number(wanted, "power_limit_w", c[Field::power_limit]);
  check_number(wanted, "fan_pct", c[Field::fan_percent]);
  const bool is_average = c[Field::average_power].has_value();
  check_number(wanted, "power_w", c[is_average ? Field::average_power : Field::package_power]);
  if (wanted.contains("throttle")) {
    CHECK((wanted.at("throttle") == "UNTHROTTLED") == c[Field::throttle].has_value());
  }
}

// A text that the index has as null is absent.
void check_text(const Record& wanted, const char* key, std::string_view found) {
  CAPTURE(key);
  if (!wanted.contains(key)) return;
  CHECK(found ==
        (wanted.at(key).is_null() ? "" : hmn::lower_case(wanted.at(key).get<std::string>())));
}

void check_identity(const Record& wanted, const Card& c) {
  const FieldAmount& name = c[Field::name];
  check_text(wanted, "name", name.has_value() ? hmn::lower_case(name.text.view()) : "");
  for (const char* key : {"pci_bus", "pci_bus_id", "bdf"}) {
    check_text(wanted, key, normal_pci_address(c[Field::bus].text.view()).view());
  }
  if (wanted.contains("unique_id")) {
    CHECK(c[Field::unique_id].whole ==
          std::stoull(wanted.at("unique_id").get<std::string>(), nullptr, 16));
  }
}

const Card* find(const Answer& a, std::uint32_t index) {
  for (const Card& c : a.cards) {
    if (c.index == index) return &c;
  }
  return nullptr;
}

void check_rocm(const Entry& e) {
  Answer a;
  read_answer(rocm_smi, e.text(), a);
  CHECK(a.problems.empty());
  const Record& cards = e.expected.at("cards");
  CHECK(a.cards.size() == cards.size());
  for (const auto& [key, wanted] : cards.items()) {
    CAPTURE(key);
    const Card* const c = find(a, static_cast<std::uint32_t>(std::stoul(key.substr(4))));
    REQUIRE(c != nullptr);
    check_values(wanted, *c);
    check_identity(wanted, *c);
  }
  if (e.expected.contains("driver_version")) {
    CHECK(a.driver.view() == e.expected.at("driver_version").get<std::string>());
  }
  const Record processes = e.expected.value("processes", Record::array());
  REQUIRE(a.processes.size() == processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    CHECK(a.processes[i].pid == processes[i].at("pid").get<std::uint32_t>());
    CHECK(a.processes[i].name.view() == processes[i].at("name").get<std::string>());
  }
}

void check_amd(const Entry& e) {
  Answer a;
  read_answer(amd_smi, e.text(), a);
  CHECK(a.problems.empty());
  const Record& gpus = e.expected.at("gpus");
  REQUIRE(a.cards.size() == gpus.size());
  for (const Record& wanted : gpus) {
    const Card* const c = find(a, wanted.at("gpu").get<std::uint32_t>());
    REQUIRE(c != nullptr);
    check_values(wanted, *c);
    check_identity(wanted, *c);
  }
}

// What the backend makes of the text as every answer of its command.
Result<std::vector<Device>> replay(const char* tool, const Entry& e, PlainReading& r) {
  Machine m(tool);
  m.script("exec cat '" + e.path() + "'");
  return m.devices(r);
}

Status status_of_class(const std::string& name) {
  if (name == "driver_not_loaded") return Status::no_source;
  if (name == "no_device") return Status::no_device;
  if (name == "usage") return Status::unsupported;
  return Status::backend;
}

void check_refused(const char* tool, const Entry& e) {
  PlainReading r;
  const auto found = replay(tool, e, r);
  const bool is_error = e.expected.value("error", true);
  if (!is_error) {
    REQUIRE(found);
    CHECK(found->empty());
    CHECK(r.diagnostics.size() == e.expected.at("warnings").get<std::size_t>());
    return;
  }
  REQUIRE_FALSE(found);
  CHECK(found.why().code == status_of_class(e.expected.value("error_class", "")));
  CHECK_FALSE(found.why().message.view().empty());
}

}  // namespace

TEST_CASE("recorded JSON of rocm-smi, from ROCm 3 to 7") {
  int count = 0;
  for (const Entry& e : recorded::all("rocm-smi-json/")) {
    if (!is_json(e)) continue;
    CAPTURE(e.file);
    check_rocm(e);
    ++count;
  }
  CHECK(count == 10);
}

TEST_CASE("recorded JSON of amd-smi") {
  int count = 0;
  for (const Entry& e : recorded::all("amd-smi-json/")) {
    if (!is_json(e)) continue;
    CAPTURE(e.file);
    check_amd(e);
    ++count;
  }
  CHECK(count == 4);
}

TEST_CASE("recorded text in every other form is refused") {
  int count = 0;
  for (const auto& [folder, tool] :
       {std::pair("rocm-smi-json/", "rocm-smi"), std::pair("amd-smi-json/", "amd-smi")}) {
    for (const Entry& e : recorded::all(folder)) {
      if (is_json(e)) continue;
      CAPTURE(e.file);
      check_refused(tool, e);
      ++count;
    }
  }
  CHECK(count == 14);
}

TEST_CASE("recorded: an RX 6600 through amd-smi, its two answers as one device") {
  const Entry identity = recorded::one("amd-smi-json/idx-rx6600-static.json");
  const Entry amounts = recorded::one("amd-smi-json/idx-rx6600-metric.json");
  Machine m("amd-smi");
  m.print("static", identity.text());
  m.print("metric", amounts.text());
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  const Record& who = identity.expected.at("gpus")[0];
  const Record& wanted = amounts.expected.at("gpus")[0];
  CHECK((*found)[0].name.view() == who.at("name").get<std::string>());
  CHECK((*found)[0].pci_bus_id.view() == who.at("bdf").get<std::string>());
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::vram)->total == wanted.at("vram_total_bytes").get<std::uint64_t>());
  CHECK(p.find(PoolKind::vram)->used == wanted.at("vram_used_bytes").get<std::uint64_t>());
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == wanted.at("gfx_pct").get<double>());
  CHECK(t.temperature_celsius == wanted.at("temp_edge_c").get<double>());
  CHECK(t.hotspot_celsius == wanted.at("temp_hotspot_c").get<double>());
  CHECK(t.power_watts == wanted.at("power_w").get<double>());
  CHECK(t.power_limit_watts == who.at("power_limit_w").get<double>());
  CHECK(t.fan_percent == 0u);
}
