// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recordings in the form that is asked for (a table with its header, units in the cells or not)
// yield what is in their index; every other form is refused with a status and no row.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;
using namespace smi_test;
using recorded::Entry;

namespace {

// Recorded with "noheader", as a list, as XML, or as something else that is no table.
bool is_table(const Entry& e) {
  if (e.file.find("noheader") != std::string::npos || e.file.ends_with(".txt")) return false;
  return e.file.ends_with(".csv") && e.file.find("loop-unknown") == std::string::npos &&
         e.file.find("a6000x5") == std::string::npos &&
         e.file.find("idx-rtx3090-compute-apps") == std::string::npos;
}

void check_number(const json& wanted, std::optional<double> found, double tolerance = 0) {
  if (wanted.is_null()) {
    CHECK_FALSE(found);
    return;
  }
  REQUIRE(found);
  CHECK(std::fabs(*found - wanted.get<double>()) <= tolerance);
}

template <class T>
std::optional<double> as_double(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

void check_text(const json& gpu, const char* key, std::string_view found) {
  if (gpu.contains(key) && !gpu.at(key).is_null()) CHECK(found == gpu.at(key).get<std::string>());
}

void check_identity(const json& gpu, const GpuRow& row) {
  const Device d = identity_of(row);
  check_text(gpu, "name", d.name.view());
  check_text(gpu, "uuid", d.uuid.view());
  check_text(gpu, "driver_version", d.driver_version.view());
  if (gpu.contains("pci_bus_id")) {
    CHECK(d.pci_bus_id == normal_pci_address(gpu.at("pci_bus_id").get<std::string>()));
  }
  if (gpu.contains("index")) CHECK(d.driver_index == gpu.at("index").get<std::uint32_t>());
  if (gpu.contains("mig_mode")) CHECK(is_mig_on(row) == (gpu.at("mig_mode") == "Enabled"));
}

void check_memory(const json& gpu, const GpuRow& row) {
  std::vector<Missing> gone;
  const auto p = pool_of(row, gone);
  REQUIRE(p);
  const auto check = [&](const char* key, const std::optional<std::uint64_t>& found) {
    CAPTURE(key);
    if (gpu.contains(key)) check_number(gpu.at(key), as_double(found));
  };
  check("memory_total_bytes", p->total);
  check("memory_used_bytes", p->used);
  check("memory_free_bytes", p->free);
  check("memory_reserved_bytes", p->reserved);
}

void check_telemetry(const json& gpu, const GpuRow& row) {
  std::vector<Missing> gone;
  const Telemetry t = telemetry_of(row, telemetry_field::all, gone);
  const auto check = [&](const char* key, std::optional<double> found) {
    CAPTURE(key);
    if (gpu.contains(key)) check_number(gpu.at(key), found, 1e-9);
  };
  check("gpu_util_pct", t.gpu_busy_percent);
  check("mem_util_pct", t.memory_busy_percent);
  check("temp_c", t.temperature_celsius);
  check("mem_temp_c", t.memory_celsius);
  check("power_w", t.power_watts);
  check("power_limit_w", t.power_limit_watts);
  check("fan_pct", as_double(t.fan_percent));
}

void check_gpus(const Entry& e) {
  const auto a = parse_gpus(e.text(), false);
  CHECK(a.is_table);
  CHECK(a.strays.count() == 0);
  const json& gpus = e.expected.at("gpus");
  REQUIRE(a.rows.size() == gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    check_identity(gpus[i], a.rows[i]);
    check_memory(gpus[i], a.rows[i]);
    check_telemetry(gpus[i], a.rows[i]);
  }
}

void check_apps(const Entry& e) {
  const auto a = parse_apps(e.text(), false);
  CHECK(a.is_table);
  CHECK(a.strays.count() == 0);
  const json& processes = e.expected.at("processes");
  REQUIRE(a.rows.size() == processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const json& wanted = processes[i];
    check_text(wanted, "gpu_uuid", a.rows[i].gpu_uuid);
    CHECK(a.rows[i].pid == wanted.at("pid").get<std::uint32_t>());
    check_number(wanted.at("used_bytes"), as_double(a.rows[i].used.value));
    const auto path = wanted.at("process_name").get<std::string>();
    if (a.rows[i].name_state != NameState::resolved) {
      CHECK(status_of_cell(path) != Status::ok);
      continue;
    }
    CHECK(path.ends_with(a.rows[i].name));
    CHECK(a.rows[i].name.find_first_of("\\/") == std::string::npos);
  }
}

// A tool that gives the recording whatever it is asked.
json answering(const Entry& e) {
  json raw;
  raw["file"] = e.path();
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = raw;
  scene["raw_query_compute_apps"] = raw;
  return scene;
}

// What the backend makes of the text, as its answer to the query for GPUs and for processes.
void check_refused(const Entry& e) {
  Machine m(answering(e));
  PlainReading r;
  const auto found = m.devices(r);
  if (e.expected.value("error_class", "") == "no_devices") {
    REQUIRE(found);
    CHECK(found->empty());
    return;
  }
  REQUIRE_FALSE(found);
  CHECK(found.why().code != Status::ok);
  CHECK_FALSE(found.why().message.view().empty());
  CHECK_FALSE(parse_apps(e.text(), false).is_table);
  CHECK(parse_apps(e.text(), false).rows.empty());
}

const std::pair<const char*, Status> classes[] = {
    {"driver_not_loaded", Status::no_source},   {"driver_library_mismatch", Status::backend},
    {"library_missing", Status::no_source},     {"device_handle", Status::backend},
    {"unsupported_field", Status::unsupported}, {"usage", Status::unsupported},
};

}  // namespace

TEST_CASE("recorded tables") {
  int gpus = 0;
  int apps = 0;
  for (const Entry& e : recorded::all("nvidia-smi-")) {
    if (!is_table(e)) continue;
    CAPTURE(e.file);
    const bool lists_processes = e.expected.contains("processes");
    lists_processes ? check_apps(e) : check_gpus(e);
    ++(lists_processes ? apps : gpus);
  }
  CHECK(gpus == 13);
  CHECK(apps == 6);
}

TEST_CASE("recorded text in every other form is refused") {
  int count = 0;
  for (const Entry& e : recorded::all("nvidia-smi-")) {
    if (is_table(e)) continue;
    CAPTURE(e.file);
    check_refused(e);
    ++count;
  }
  CHECK(count == 32);
}

TEST_CASE("recorded sentences have the status of their class") {
  int count = 0;
  for (const Entry& e : recorded::all("nvidia-smi-errors/")) {
    for (const auto& [name, code] : classes) {
      if (e.expected.value("error_class", "") != name) continue;
      CAPTURE(e.file);
      Machine m(answering(e));
      PlainReading r;
      const auto found = m.devices(r);
      REQUIRE_FALSE(found);
      CHECK(found.why().code == code);
      ++count;
    }
  }
  CHECK(count == 7);
}

TEST_CASE("recorded: NVML cannot be initialised, each with its own status") {
  const auto code_of = [](const char* file) {
    Machine m(answering(recorded::one(file)));
    PlainReading r;
    const auto found = m.devices(r);
    return found ? Status::ok : found.why().code;
  };
  CHECK(code_of("nvidia-smi-errors/nvml-unknown-error.txt") == Status::backend);
  CHECK(code_of("nvidia-smi-errors/nvml-blocked-by-os.txt") == Status::permission);
}

TEST_CASE("recorded: a table whose cells carry units is the form without them, and more") {
  const Entry e = recorded::one("nvidia-smi-csv/idx-l40s-query-gpu.csv");
  std::string bare = e.text();
  for (std::size_t at = bare.find(" MiB"); at != std::string::npos; at = bare.find(" MiB", at)) {
    bare.erase(at, 4);
  }
  const auto with = parse_gpus(e.text(), false);
  const auto without = parse_gpus(bare, false);
  REQUIRE(with.rows.size() == 1);
  REQUIRE(without.rows.size() == 1);
  for (const GpuColumn c :
       {GpuColumn::memory_total, GpuColumn::memory_used, GpuColumn::memory_free}) {
    CHECK(bytes_of(with.rows[0][c].text, with.rows[0][c].unit).value ==
          bytes_of(without.rows[0][c].text, without.rows[0][c].unit).value);
  }
}
