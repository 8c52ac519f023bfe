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
bool is_table(const Entry& entry) {
  if (entry.file.find("noheader") != std::string::npos || entry.file.ends_with(".txt"))
    return false;
  return entry.file.ends_with(".csv") && entry.file.find("loop-unknown") == std::string::npos &&
         entry.file.find("a6000x5") == std::string::npos &&
         entry.file.find("idx-rtx3090-compute-apps") == std::string::npos;
}

void check_number(const json& expected, std::optional<double> actual, double tolerance = 0) {
  if (expected.is_null()) {
    CHECK_FALSE(actual);
    return;
  }
  REQUIRE(actual);
  CHECK(std::fabs(*actual - expected.get<double>()) <= tolerance);
}

template <class T>
std::optional<double> to_double(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

void check_text(const json& gpu, const char* key, std::string_view actual) {
  if (gpu.contains(key) && !gpu.at(key).is_null()) CHECK(actual == gpu.at(key).get<std::string>());
}

void check_identity(const json& gpu, const GpuRow& row) {
  const Device device = read_identity(row);
  check_text(gpu, "name", device.name.view());
  check_text(gpu, "uuid", device.uuid.view());
  check_text(gpu, "driver_version", device.driver_version.view());
  if (gpu.contains("pci_bus_id")) {
    CHECK(device.pci_bus_id == normalize_pci_address(gpu.at("pci_bus_id").get<std::string>()));
  }
  if (gpu.contains("index")) CHECK(device.driver_index == gpu.at("index").get<std::uint32_t>());
  if (gpu.contains("mig_mode")) CHECK(is_mig_on(row) == (gpu.at("mig_mode") == "Enabled"));
}

void check_memory(const json& gpu, const GpuRow& row) {
  std::vector<MissingFields> missing;
  const auto pool = read_pool(row, missing);
  REQUIRE(pool);
  const auto check = [&](const char* key, const std::optional<std::uint64_t>& actual) {
    CAPTURE(key);
    if (gpu.contains(key)) check_number(gpu.at(key), to_double(actual));
  };
  check("memory_total_bytes", pool->total);
  check("memory_used_bytes", pool->used);
  check("memory_free_bytes", pool->free);
  check("memory_reserved_bytes", pool->reserved);
}

void check_telemetry(const json& gpu, const GpuRow& row) {
  std::vector<MissingFields> missing;
  const Telemetry telemetry = read_telemetry(row, telemetry_field::all, missing);
  const auto check = [&](const char* key, std::optional<double> actual) {
    CAPTURE(key);
    if (gpu.contains(key)) check_number(gpu.at(key), actual, 1e-9);
  };
  check("gpu_util_pct", telemetry.gpu_busy_percent);
  check("mem_util_pct", telemetry.memory_busy_percent);
  check("temp_c", telemetry.temperature_celsius);
  check("mem_temp_c", telemetry.memory_celsius);
  check("power_w", telemetry.power_watts);
  check("power_limit_w", telemetry.power_limit_watts);
  check("fan_pct", to_double(telemetry.fan_percent));
}

void check_gpus(const Entry& entry) {
  const auto answer = parse_gpus(entry.text(), false);
  CHECK(answer.is_table);
  CHECK(answer.strays.count() == 0);
  const json& gpus = entry.expected.at("gpus");
  REQUIRE(answer.rows.size() == gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    check_identity(gpus[i], answer.rows[i]);
    check_memory(gpus[i], answer.rows[i]);
    check_telemetry(gpus[i], answer.rows[i]);
  }
}

void check_apps(const Entry& entry) {
  const auto answer = parse_apps(entry.text(), false);
  CHECK(answer.is_table);
  CHECK(answer.strays.count() == 0);
  const json& processes = entry.expected.at("processes");
  REQUIRE(answer.rows.size() == processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const json& expected = processes[i];
    check_text(expected, "gpu_uuid", answer.rows[i].gpu_uuid);
    CHECK(answer.rows[i].pid == expected.at("pid").get<std::uint32_t>());
    check_number(expected.at("used_bytes"), to_double(answer.rows[i].used.value));
    const auto path = expected.at("process_name").get<std::string>();
    if (answer.rows[i].name_state != NameState::resolved) {
      CHECK(parse_status(path) != Status::ok);
      continue;
    }
    CHECK(path.ends_with(answer.rows[i].name));
    CHECK(answer.rows[i].name.find_first_of("\\/") == std::string::npos);
  }
}

// A tool that prints the recording for every query.
json make_replay(const Entry& entry) {
  json raw;
  raw["file"] = entry.path();
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = raw;
  scene["raw_query_compute_apps"] = raw;
  return scene;
}

// Checks that the text is refused as the answer to the queries for GPUs and for processes.
void check_refused(const Entry& entry) {
  Machine machine(make_replay(entry));
  PlainReading reading;
  const auto devices = machine.devices(reading);
  if (entry.expected.value("error_class", "") == "no_devices") {
    REQUIRE(devices);
    CHECK(devices->empty());
    return;
  }
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code != Status::ok);
  CHECK_FALSE(devices.failure().message.view().empty());
  CHECK_FALSE(parse_apps(entry.text(), false).is_table);
  CHECK(parse_apps(entry.text(), false).rows.empty());
}

const std::pair<const char*, Status> classes[] = {
    {"driver_not_loaded", Status::no_source},   {"driver_library_mismatch", Status::backend},
    {"library_missing", Status::no_source},     {"device_handle", Status::backend},
    {"unsupported_field", Status::unsupported}, {"usage", Status::unsupported},
};

}  // namespace

TEST_CASE("recorded tables yield the values of their index") {
  int gpus = 0;
  int apps = 0;
  for (const Entry& entry : recorded::find_all("nvidia-smi-")) {
    if (!is_table(entry)) continue;
    CAPTURE(entry.file);
    const bool lists_processes = entry.expected.contains("processes");
    lists_processes ? check_apps(entry) : check_gpus(entry);
    ++(lists_processes ? apps : gpus);
  }
  CHECK(gpus == 13);
  CHECK(apps == 6);
}

TEST_CASE("recorded text in any other form is refused") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("nvidia-smi-")) {
    if (is_table(entry)) continue;
    CAPTURE(entry.file);
    check_refused(entry);
    ++count;
  }
  CHECK(count == 32);
}

TEST_CASE("recorded messages have the status of their class") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("nvidia-smi-errors/")) {
    for (const auto& [name, code] : classes) {
      if (entry.expected.value("error_class", "") != name) continue;
      CAPTURE(entry.file);
      Machine machine(make_replay(entry));
      PlainReading reading;
      const auto devices = machine.devices(reading);
      REQUIRE_FALSE(devices);
      CHECK(devices.failure().code == code);
      ++count;
    }
  }
  CHECK(count == 7);
}

TEST_CASE("recorded failures to initialize NVML have their own status") {
  const auto read_status = [](const char* file) {
    Machine machine(make_replay(recorded::find_one(file)));
    PlainReading reading;
    const auto devices = machine.devices(reading);
    return devices ? Status::ok : devices.failure().code;
  };
  CHECK(read_status("nvidia-smi-errors/nvml-unknown-error.txt") == Status::backend);
  CHECK(read_status("nvidia-smi-errors/nvml-blocked-by-os.txt") == Status::permission);
}

TEST_CASE("recorded cells with units yield the same values as cells without") {
  const Entry entry = recorded::find_one("nvidia-smi-csv/idx-l40s-query-gpu.csv");
  std::string bare = entry.text();
  for (std::size_t position = bare.find(" MiB"); position != std::string::npos;
       position = bare.find(" MiB", position)) {
    bare.erase(position, 4);
  }
  const auto with_units = parse_gpus(entry.text(), false);
  const auto without_units = parse_gpus(bare, false);
  REQUIRE(with_units.rows.size() == 1);
  REQUIRE(without_units.rows.size() == 1);
  for (const GpuColumn column :
       {GpuColumn::memory_total, GpuColumn::memory_used, GpuColumn::memory_free}) {
    CHECK(
        parse_bytes(with_units.rows[0][column].text, with_units.rows[0][column].unit).value ==
        parse_bytes(without_units.rows[0][column].text, without_units.rows[0][column].unit).value);
  }
}
