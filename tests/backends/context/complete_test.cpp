// SPDX-License-Identifier: MIT OR Apache-2.0
//
// nvidia-smi answers every call without NVML, otherwise the subjects that NVML cannot read.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "abi/support/keys.h"
#include "machine.hpp"

namespace {

constexpr const char* one_card = R"({"gpus": [{"fields": {
  "name": "NVIDIA L40S", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
  "pci.bus_id": "00000000:01:00.0", "driver_version": "595.80",
  "memory.total": 46068, "memory.used": 9123, "memory.free": 36346, "memory.reserved": 599,
  "temperature.gpu": 45},
  "compute_apps": [{"pid": 20037, "process_name": "/usr/bin/ffmpeg", "used_gpu_memory": 538}]}]})";

constexpr const char* another_card = R"({"driver_version": "550.163.01", "devices": [
  {"uuid": "GPU-33333333-2222-3333-4444-555555555555", "pci": {"address": "00000000:03:00.0"},
   "memory": {"total": 48318382080, "free": 37580963840, "used": 10737418240}}]})";

constexpr std::uint64_t second_ns = 1'000'000'000;

// The fake executable in its own folder.
class Tool {
 public:
  explicit Tool(const Machine& machine, const std::string& scenario = one_card)
      : folder_(machine.tree().path("tool")) {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, path());
    print(scenario);
    REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_NVIDIA_SMI, path().c_str(), nullptr) ==
            HMN_OK);
  }
  void print(const std::string& scenario) const {
    const std::filesystem::path next = folder_ / "next.json";
    std::ofstream(next) << scenario;
    std::filesystem::rename(next, folder_ / "nvidia-smi.json");
  }
  // `Counts the starts, or only those with the word `query`.
  [[nodiscard]] int count_starts(const std::string& query = {}) const {
    std::ifstream log(folder_ / "nvidia-smi.log");
    int lines = 0;
    for (std::string line; std::getline(log, line);) lines += line.find(query) != line.npos ? 1 : 0;
    return lines;
  }
  // Whether each query was run, at most once per second since this object was created.
  [[nodiscard]] bool was_run_seldom(std::initializer_list<const char*> queries = {
                                        "--query-gpu"}) const {
    const auto seconds = static_cast<int>((now_ns() - creation_ns_) / second_ns);
    int all = 0;
    for (const char* const query : queries) {
      const int runs = count_starts(query);
      if (runs == 0 || runs > 1 + seconds) return false;
      all += runs;
    }
    return all == count_starts();
  }

 private:
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "nvidia-smi"; }
  std::filesystem::path folder_;
  std::uint64_t creation_ns_ = now_ns();
};

constexpr std::uint64_t mib = 1 << 20;
constexpr useconds_t interval_us = 1'100'000;

constexpr hmn_flags everything = HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_SELF |
                                 HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS;

// A card for which NVML has every value, except `results` of calls; `members` replace others.
std::string full_card(const std::string& results = {}, const std::string& members = {}) {
  return one_gpu({}, R"(, "utilization": {"gpu": 11, "memory": 12}, "encoder": 13, "decoder": 14,
    "temperature": 15, "fields": {"82": 16}, "power_usage_mw": 17000,
    "enforced_power_limit_mw": 18000, "energy_mj": 19000,
    "clocks_mhz": {"graphics": 20, "sm": 20, "memory": 21, "video": 20}, "fans": 22,
    "pcie": {"gen": 3, "width": 8}, "pstate": 4, "clocks_event_reasons": 0)" +
                         members + R"(, "results": {)" + results + "}");
}

// Result `code` for all calls of telemetry.
std::string no_telemetry(const std::string& code) {
  std::string out;
  for (const char* const call :
       {"UtilizationRates", "EncoderUtilization", "DecoderUtilization", "Temperature*",
        "FieldValues", "PowerUsage", "*PowerLimit*", "TotalEnergyConsumption", "ClockInfo",
        "*Clock*", "FanSpeed*", "CurrPcieLink*", "PcieThroughput", "PerformanceState",
        "*Reasons*"}) {
    out += std::string(out.empty() ? "" : ", ") + "\"nvmlDeviceGet" + call + "\": \"" + code + "\"";
  }
  return out;
}

// The tool's values of the same card, which differ from those of NVML.
std::string make_smi_scenario(const std::string& fields = {}, const std::string& apps = {}) {
  return R"({"gpus": [{"fields": {
    "name": "From the tool", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "pci.bus_id": "00000000:01:00.0", "driver_version": "595.80",
    "memory.total": 46080, "memory.used": 9000, "memory.free": 36480, "memory.reserved": 600,
    "utilization.gpu": 51, "utilization.memory": 52, "utilization.encoder": 53,
    "utilization.decoder": 54, "temperature.gpu": 55, "temperature.memory": 56,
    "power.draw": 57, "enforced.power.limit": 58, "clocks.current.graphics": 60,
    "clocks.current.memory": 61, "fan.speed": 62, "pcie.link.gen.current": 5,
    "pcie.link.width.current": 16, "pstate": "P8",
    "clocks_event_reasons.active": "0x0000000000000004")" +
         (fields.empty() ? "" : ", " + fields) + R"(}, "compute_apps": [)" + apps + "]}]}";
}

std::uint64_t backend_bit(std::uint32_t backend) {
  return std::uint64_t{1} << backend;
}

hmn_telemetry read_load(const Machine& machine, hmn_fields fields = 0) {
  auto load = sized<hmn_telemetry>();
  auto error = sized<hmn_error>();
  const hmn_status status = hmn_telemetry_read(machine.context(), 0, fields, &load, &error);
  CAPTURE(error.message);
  REQUIRE(status == HMN_OK);
  return load;
}

hmn_status read_main_pool(const Machine& machine, hmn_pool& pool, hmn_error& error) {
  pool = sized<hmn_pool>();
  error = sized<hmn_error>();
  return hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error);
}

hmn_diagnostic find_diagnostic(const Snapshot& snapshot, hmn_flags subject, hmn_fields field) {
  auto diagnostic = sized<hmn_diagnostic>();
  REQUIRE(read_reason(snapshot.handle(), 0, subject, field, &diagnostic) == HMN_OK);
  return diagnostic;
}

std::ptrdiff_t count_open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

}  // namespace

TEST_CASE("without NVML the tool provides count, devices, memory and processes") {
  const Machine machine({}, false);
  const Tool smi(machine);
  std::uint32_t count = 0;
  auto error = sized<hmn_error>();
  REQUIRE(hmn_device_scan(machine.context(), &count, nullptr, &error) == HMN_OK);
  CHECK(count == 1);
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_OK);
  CHECK(pool.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(pool.total_bytes == 46068 * mib);
  CHECK(pool.used_bytes == 9123 * mib);
  CHECK(pool.reserved_bytes == 599 * mib);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES);
  REQUIRE(snapshot.info().usage_count == 1);
  CHECK(snapshot.usages()[0].pid == 20037);
  CHECK(snapshot.usages()[0].used_bytes == 538 * mib);
}

TEST_CASE("a reading starts the tool once for all devices, and once more for processes") {
  const Machine machine({}, false);
  const Tool smi(machine);
  { const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY); }
  CHECK(smi.count_starts() == 1);
  { const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES); }
  CHECK(smi.count_starts() == 3);
}

TEST_CASE("the tool is not started while NVML works, or if subprocesses are forbidden") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  SUBCASE("NVML works") {
    const Machine machine;
    const Tool smi(machine);
    const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES);
    CHECK(snapshot.device(0).backend == HMN_BACKEND_NVML);
    CHECK(smi.count_starts() == 0);
  }
  SUBCASE("subprocesses are forbidden") {
    const Machine machine({.flags = HMN_CONTEXT_NO_SUBPROCESS}, false);
    const Tool smi(machine);
    const Snapshot snapshot(machine.context());
    CHECK(snapshot.info().device_count == 0);
    CHECK(smi.count_starts() == 0);
  }
}

TEST_CASE("a card listed by the tool is matched with NVML's cards") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "result": 9}])"));
  const Machine machine;
  const Tool smi(machine);
  {
    const Snapshot snapshot(machine.context());
    REQUIRE(snapshot.info().device_count == 1);
    CHECK(snapshot.device(0).backend == HMN_BACKEND_NVIDIA_SMI);
    const auto diagnostics = snapshot.diagnostics();
    REQUIRE(!diagnostics.empty());
    CHECK(diagnostics[0].backend == HMN_BACKEND_NVML);
    CHECK(diagnostics[0].native_code == 9);
  }
  SUBCASE("the card keeps its index when NVML returns") {
    nvml.load(one_gpu());
    CHECK(becomes_true([&] {
      const Snapshot snapshot(machine.context());
      REQUIRE(snapshot.info().device_count == 1);
      CHECK(snapshot.device(0).index == 0);
      return snapshot.device(0).backend == HMN_BACKEND_NVML;
    }));
  }
  SUBCASE("the card is lost when NVML returns without it") {
    nvml.load(another_card);
    CHECK(becomes_true([&] {
      const Snapshot snapshot(machine.context());
      return snapshot.info().device_count == 2 && snapshot.device(0).state == HMN_RUN_STATE_LOST &&
             snapshot.device(1).state == HMN_RUN_STATE_READY;
    }));
  }
}

TEST_CASE("if NVML has every value, the tool is not started and nothing is left open") {
  const FakeNvml nvml;
  nvml.load(full_card());
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  { const Snapshot first(machine.context(), everything); }
  const auto before = count_open_descriptors();
  const Snapshot snapshot(machine.context(), everything);
  const hmn_telemetry load = read_load(machine);
  CHECK(load.backends == backend_bit(HMN_BACKEND_NVML));
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(read_main_pool(machine, pool, error) == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_MIXED) == 0);
  auto device = sized<hmn_device>();
  CHECK(hmn_device_read(machine.context(), 0, 0, &device, &error) == HMN_OK);
  CHECK(count_open_descriptors() == before);
  CHECK(smi.count_starts() == 0);
}

TEST_CASE("telemetry that NVML cannot read comes from the tool") {
  const FakeNvml nvml;
  nvml.load(full_card(no_telemetry("UNKNOWN")));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  const hmn_telemetry load = read_load(machine);
  CHECK(load.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(load.backends == backend_bit(HMN_BACKEND_NVIDIA_SMI));
  CHECK((load.notes & (HMN_NOTE_STALE | HMN_NOTE_MIXED)) == 0);
  CHECK(load.gpu_busy_percent == 51);
  CHECK(load.memory_busy_percent == 52);
  CHECK(load.encoder_busy_percent == 53);
  CHECK(load.decoder_busy_percent == 54);
  CHECK(load.temperature_celsius == 55);
  CHECK(load.memory_celsius == 56);
  CHECK(load.power_watts == 57);
  CHECK(load.power_limit_watts == 58);
  CHECK(load.core_clock_mhz == 60);
  CHECK(load.memory_clock_mhz == 61);
  CHECK(load.fan_percent == 62);
  CHECK(load.pcie_generation == 5);
  CHECK(load.pcie_width == 16);
  CHECK(load.p_state == 8);
  CHECK(load.throttle == HMN_THROTTLE_POWER);
  CHECK((load.present & HMN_TELEMETRY_HAS_ENERGY) == 0);
  CHECK(smi.count_starts() == 1);
}

TEST_CASE("a single value that fails is absent, and the tool is not started") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetFanSpeed*": "UNKNOWN", "nvmlDeviceGetName": "UNKNOWN")"));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  const Snapshot snapshot(machine.context(), everything);
  const hmn_diagnostic diagnostic =
      find_diagnostic(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT);
  CHECK(diagnostic.backend == HMN_BACKEND_NVML);
  CHECK(diagnostic.native_code == 999);
  CHECK(read_load(machine).temperature_celsius == 15);
  CHECK(smi.count_starts() == 0);
}

TEST_CASE("memory that NVML cannot read comes from the tool") {
  const FakeNvml nvml;
  std::string results, members;
  SUBCASE("an error") {
    results = R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")";
  }
  SUBCASE("no permission") {
    results = R"("nvmlDeviceGetMemoryInfo*": "NO_PERMISSION")";
  }
  SUBCASE("missing symbol") {
    results = R"("nvmlDeviceGetMemoryInfo*": "FUNCTION_NOT_FOUND")";
  }
  SUBCASE("sentinel values") {
    members = R"(, "memory": {"total": "0xffffffffffffffff"},
                   "memory_v2": {"total": "0xffffffffffffffff"})";
  }
  nvml.load(full_card(results, members));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(read_main_pool(machine, pool, error) == HMN_OK);
  CHECK(pool.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(pool.total_bytes == 46080 * mib);
  CHECK(pool.used_bytes == 9000 * mib);
  CHECK(pool.free_bytes == 36480 * mib);
  CHECK(pool.usable_bytes == pool.free_bytes);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  CHECK(smi.count_starts() == 1);
}

TEST_CASE("used memory that does not add up is absent, and the tool is not started") {
  const FakeNvml nvml;
  const std::string odd = R"({"total": "45 GiB", "free": "36480 MiB", "used": "1 GiB"})";
  nvml.load(full_card({}, R"(, "memory": )" + odd + R"(, "memory_v2": )" + odd));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools().size() == 1);
  const hmn_pool pool = snapshot.pools()[0];
  CHECK(pool.backend == HMN_BACKEND_NVML);
  CHECK((pool.notes & HMN_NOTE_MIXED) == 0);
  CHECK(pool.total_bytes == 46080 * mib);
  CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
  CHECK(smi.count_starts() == 0);
}

TEST_CASE("a library with only the identity functions leaves the other values to the tool") {
  const FakeNvml nvml(HMN_FAKE_NVML_INIT_ONLY);
  nvml.load(full_card());
  const Machine machine({}, false);
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_NVML, HMN_FAKE_NVML_INIT_ONLY, &error) ==
          HMN_OK);
  const Tool smi(
      machine,
      make_smi_scenario({}, R"({"pid": 20037, "process_name": "a", "used_gpu_memory": 538})"));
  const Snapshot snapshot(machine.context(), everything);
  REQUIRE(snapshot.info().device_count == 1);
  CHECK(snapshot.device(0).backend == HMN_BACKEND_NVML);
  CHECK(std::string(snapshot.device(0).name) == "NVIDIA L40S");
  REQUIRE(snapshot.pools().size() == 1);
  CHECK(snapshot.pools()[0].total_bytes == 46080 * mib);
  REQUIRE(snapshot.usages().size() == 1);
  CHECK(snapshot.usages()[0].used_bytes == 538 * mib);
  CHECK(snapshot.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_snapshot_find_telemetry(snapshot.handle(), 0, &load, nullptr) == HMN_OK);
  CHECK(load.power_watts == 57);
  CHECK(smi.count_starts() == 2);  // the cards, and the processes
}

TEST_CASE("a process's memory that NVML does not report comes from the tool") {
  const FakeNvml nvml;
  const std::string own = std::to_string(getpid());
  nvml.load(full_card({}, R"(, "processes": {"compute": [
    {"pid": "self", "used": null}, {"pid": 4104711, "used": "1 GiB"}], "graphics": [
    {"pid": 4104712, "used": null}]})"));
  const Machine machine;
  const Tool smi(machine,
                 make_smi_scenario({}, R"({"pid": )" + own +
                                           R"(, "process_name": "a", "used_gpu_memory": 300},
    {"pid": 4104711, "process_name": "b", "used_gpu_memory": 9}, {"pid": 5, "used_gpu_memory": 1})"));
  auto row = sized<hmn_usage>();
  auto error = sized<hmn_error>();
  SUBCASE("of the caller") {
    REQUIRE(hmn_usage_read_self(machine.context(), 0, 0, &row, &error) == HMN_OK);
    CHECK(row.used_bytes == 300 * mib);
    CHECK(row.backend == HMN_BACKEND_NVML);
    CHECK((row.notes & HMN_NOTE_MIXED) != 0);
  }
  SUBCASE("of one process") {
    REQUIRE(hmn_usage_read(machine.context(), 0, static_cast<std::uint32_t>(getpid()), 0, &row,
                           &error) == HMN_OK);
    CHECK(row.used_bytes == 300 * mib);
  }
  SUBCASE("in NVML's list") {
    const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES);
    REQUIRE(snapshot.usages().size() == 3);
    for (const hmn_usage& usage : snapshot.usages()) {
      const bool has_used = (usage.present & HMN_USAGE_HAS_USED) != 0;
      if (usage.pid == 4104711) CHECK(usage.used_bytes == 1024 * mib);
      if (usage.pid == 4104711) CHECK((usage.notes & HMN_NOTE_MIXED) == 0);
      if (usage.pid == 4104712) CHECK(!has_used);
      if (usage.pid == static_cast<std::uint32_t>(getpid())) CHECK(usage.used_bytes == 300 * mib);
    }
  }
  // The cards are listed once, to assign the rows.
  CHECK(smi.count_starts() == 2);
}

TEST_CASE("processes that NVML cannot list come from the tool") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGet*RunningProcesses*": "UNKNOWN")"));
  const Machine machine;
  const Tool smi(
      machine,
      make_smi_scenario({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9})"));
  const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS);
  REQUIRE(snapshot.usages().size() == 1);
  CHECK(snapshot.usages()[0].used_bytes == 9 * mib);
  CHECK(snapshot.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  // The tool does not list graphics processes.
  CHECK((snapshot.usages()[0].notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK(find_diagnostic(snapshot, HMN_COLLECT_PROCESSES, 0).backend == HMN_BACKEND_NVML);
  CHECK((snapshot.pools()[0].present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  auto row = sized<hmn_usage>();
  CHECK(hmn_usage_read(machine.context(), 0, 4104711, 0, &row, nullptr) == HMN_OK);
  CHECK(row.used_bytes == 9 * mib);
  CHECK((row.notes & HMN_NOTE_STALE) == 0);
  CHECK(smi.was_run_seldom({"--query-gpu", "--query-compute-apps"}));
}

TEST_CASE("the tool is not started for a process that NVML does not list") {
  const FakeNvml nvml;
  nvml.load(full_card());
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  auto row = sized<hmn_usage>();
  CHECK(hmn_usage_read(machine.context(), 0, 4104711, 0, &row, nullptr) == HMN_E_NO_PROCESS);
  CHECK(smi.count_starts() == 0);
}

namespace {

hmn_pool read_fresh_pool(const Machine& machine) {
  hmn_pool pool;
  hmn_error error;
  const hmn_status status = read_main_pool(machine, pool, error);
  CAPTURE(error.message);
  REQUIRE(status == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  CHECK((pool.present & HMN_POOL_HAS_USABLE) != 0);
  return pool;
}

std::string make_used_scenario(std::uint64_t used_mib) {
  return make_smi_scenario("\"memory.used\": " + std::to_string(used_mib) +
                           ", \"memory.free\": " + std::to_string(46080 - 600 - used_mib));
}

constexpr const char* no_memory_call = R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")";

}  // namespace

TEST_CASE("an answer of the tool is used for a second, with its age, and then renewed") {
  const FakeNvml nvml;
  nvml.load(full_card(std::string(no_memory_call) + ", " + no_telemetry("UNKNOWN")));
  const Machine machine({.stale_ns = HMN_MILLISECONDS(60'000)});
  const Tool smi(machine, make_used_scenario(1000));
  const std::uint64_t start_ns = now_ns();
  CHECK(read_fresh_pool(machine).used_bytes == 1000 * mib);
  const std::uint64_t answer_ns = now_ns();
  smi.print(make_used_scenario(9000));
  usleep(20'000);
  const std::uint64_t longest_ns = std::max(second_ns, 2 * (answer_ns - start_ns));
  CHECK(becomes_true([&] {
    const std::uint64_t query_ns = now_ns();
    const hmn_pool pool = read_fresh_pool(machine);
    const hmn_telemetry power = read_load(machine, HMN_TELEMETRY_HAS_POWER);  // of the same run
    CHECK(power.power_watts == 57);
    CHECK((power.notes & HMN_NOTE_STALE) == 0);
    const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
    CHECK((snapshot.pools().at(0).notes & HMN_NOTE_STALE) == 0);
    if (pool.used_bytes != 1000 * mib) return pool.used_bytes == 9000 * mib;
    CHECK(query_ns - answer_ns < longest_ns);
    CHECK(pool.age_ns >= query_ns - answer_ns);
    CHECK(pool.age_ns <= now_ns() - start_ns);
    return false;
  }));
  CHECK(now_ns() - start_ns >= second_ns);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("would_fit uses current values of the tool") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine;
  const Tool smi(machine, make_used_scenario(9000));
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(machine.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  for (int i = 0; i < 10; ++i) {
    CHECK(hmn_tracker_would_fit(tracker, 36480 * mib, nullptr) == HMN_OK);
    CHECK(hmn_tracker_would_fit(tracker, 36480 * mib + 1, nullptr) == HMN_E_LIMIT);
    usleep(250'000);
  }
  hmn_tracker_destroy(tracker);
  CHECK(smi.count_starts() >= 2);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("many threads share one run of the tool, including the first") {
  const FakeNvml nvml;
  nvml.load(
      full_card(no_memory_call, R"(, "processes": {"compute": [{"pid": 4104711, "used": null}],
                                        "graphics": [], "mps": []})"));
  const Machine machine;
  const Tool smi(
      machine,
      make_smi_scenario({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9})"));
  std::atomic<int> correct{0};
  const auto read_repeatedly = [&] {
    for (int i = 0; i < 20; ++i) {
      auto pool = sized<hmn_pool>();
      auto row = sized<hmn_usage>();
      const bool has_pool = hmn_pool_read(machine.context(), 0, 0, 0, 0, &pool, nullptr) == HMN_OK;
      const bool has_row =
          hmn_usage_read(machine.context(), 0, 4104711, 0, &row, nullptr) == HMN_OK;
      const bool is_stale = ((pool.notes | row.notes) & HMN_NOTE_STALE) != 0;
      if (has_pool && has_row && !is_stale && pool.used_bytes == 9000 * mib &&
          row.used_bytes == 9 * mib) {
        ++correct;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(read_repeatedly);
  for (std::thread& thread : threads) thread.join();
  CHECK(correct == 160);
  CHECK(smi.was_run_seldom({"--query-gpu", "--query-compute-apps"}));
}

TEST_CASE("a sampler faster than the tool reports its last values with their age") {
  const FakeNvml nvml;
  nvml.load(full_card(std::string(no_memory_call) + ", " + no_telemetry("UNKNOWN")));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  auto options = sized<hmn_sampler_options>();
  options.interval_ns = HMN_MILLISECONDS(50);
  hmn_sampler* sampler = nullptr;
  REQUIRE(hmn_sampler_create(machine.context(), &options, nullptr, &sampler, nullptr) == HMN_OK);
  const std::uint64_t start_ns = now_ns();
  REQUIRE(hmn_sampler_start(sampler, nullptr) == HMN_OK);
  CHECK(becomes_true([&] {
    hmn_snapshot* snapshot = nullptr;
    REQUIRE(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &snapshot, nullptr) == HMN_OK);
    auto pool = sized<hmn_pool>();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_pool_at(snapshot, 0, &pool, nullptr) == HMN_OK);
    REQUIRE(hmn_snapshot_find_telemetry(snapshot, 0, &load, nullptr) == HMN_OK);
    hmn_snapshot_destroy(snapshot);
    CHECK(pool.used_bytes == 9000 * mib);
    CHECK(load.power_watts == 57);
    CHECK(load.temperature_celsius == 55);
    CHECK(((pool.notes | load.notes) & HMN_NOTE_STALE) == 0);
    CHECK(pool.age_ns <= now_ns() - start_ns);
    auto latest = sized<hmn_pool>();
    REQUIRE(hmn_sampler_latest_pool(sampler, 0, &latest, nullptr) == HMN_OK);
    CHECK(latest.used_bytes == 9000 * mib);
    CHECK(latest.age_ns <= now_ns() - start_ns);
    return smi.count_starts() >= 3;
  }));
  hmn_sampler_destroy(sampler);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("the tool is not started for values that NVML reports as unsupported") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetFanSpeed*": "NOT_SUPPORTED",
                         "nvmlDeviceGetEncoderUtilization": "NOT_SUPPORTED")"));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  CHECK((read_load(machine).present & HMN_TELEMETRY_HAS_FAN_PERCENT) == 0);
  const Snapshot snapshot(machine.context(), everything);
  CHECK(find_diagnostic(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT).reason ==
        HMN_REASON_UNSUPPORTED);
  CHECK(smi.count_starts() == 0);
}

TEST_CASE("a reading of other subjects has no diagnostic about processes") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    CAPTURE(diagnostic.message);
    CHECK(diagnostic.subject != HMN_COLLECT_PROCESSES);
    CHECK(diagnostic.status != HMN_E_TIMEOUT);
  }
  CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) == 0);
  CHECK(smi.count_starts() == 1);
}

TEST_CASE("a list that NVML reads in part is merged with the tool's, and stays partial") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetComputeRunningProcesses*": "UNKNOWN")",
                      R"(, "processes": {"compute": [], "graphics": [
                           {"pid": 4104712, "used": "1 GiB"}], "mps": []})"));
  const Machine machine;
  const Tool smi(
      machine, make_smi_scenario({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9},
                                    {"pid": 4104712, "process_name": "c", "used_gpu_memory": 8})"));
  const Snapshot snapshot(machine.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS);
  REQUIRE(snapshot.usages().size() == 2);
  CHECK(snapshot.usages()[0].pid == 4104711);
  CHECK(snapshot.usages()[0].used_bytes == 9 * mib);
  CHECK(snapshot.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(snapshot.usages()[1].used_bytes == 1024 * mib);
  CHECK(snapshot.usages()[1].backend == HMN_BACKEND_NVML);
  for (const hmn_usage& usage : snapshot.usages()) CHECK((usage.notes & HMN_NOTE_LOWER_BOUND) != 0);
  REQUIRE(snapshot.pools().size() == 1);
  CHECK((snapshot.pools()[0].present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  const hmn_diagnostic diagnostic = find_diagnostic(snapshot, HMN_COLLECT_PROCESSES, 0);
  CHECK(diagnostic.backend == HMN_BACKEND_NVML);
  CHECK(diagnostic.native_code == 999);
  CHECK(smi.count_starts() == 2);
}

TEST_CASE("values that neither source has are queried once, and keep NVML's reason") {
  const FakeNvml nvml;
  nvml.load(
      full_card(no_telemetry("NO_PERMISSION"),
                R"(, "processes": {"compute": [{"pid": 4104711, "used": null}], "graphics": []})"));
  const Machine machine;
  const Tool smi(machine, R"({"gpus": [{"fields": {
    "uuid": "GPU-11111111-2222-3333-4444-555555555555", "pci.bus_id": "00000000:01:00.0"},
    "compute_apps": [{"pid": 4104711, "used_gpu_memory": "[N/A]"}]}]})");
  const auto check = [&] {
    const Snapshot snapshot(machine.context(), everything);
    const hmn_diagnostic diagnostic =
        find_diagnostic(snapshot, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE);
    CHECK(diagnostic.backend == HMN_BACKEND_NVML);
    CHECK(diagnostic.status == HMN_E_PERMISSION);
    CHECK(diagnostic.native_code == 4);
    REQUIRE(snapshot.usages().size() == 1);
    CHECK((snapshot.usages()[0].present & HMN_USAGE_HAS_USED) == 0);
    CHECK(smi.count_starts() == 2);
  };
  check();
  usleep(interval_us);
  check();
}

TEST_CASE("values that the tool fails to read are queried again") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call, R"(, "processes": {"compute": [
    {"pid": "self", "used": null}], "graphics": []})"));
  const Machine machine;
  const std::string own = R"({"pid": )" + std::to_string(getpid()) + R"(, "used_gpu_memory": )";
  const Tool smi(machine, make_smi_scenario(R"("memory.total": "[Unknown Error]")",
                                            own + R"("[Unknown Error]"})"));
  hmn_pool pool;
  hmn_error error;
  auto row = sized<hmn_usage>();
  CHECK(read_main_pool(machine, pool, error) == HMN_E_BACKEND);
  CHECK(hmn_usage_read_self(machine.context(), 0, 0, &row, nullptr) == HMN_OK);
  CHECK((row.present & HMN_USAGE_HAS_USED) == 0);
  smi.print(make_smi_scenario({}, own + "300}"));
  CHECK(becomes_true([&] { return read_main_pool(machine, pool, error) == HMN_OK; }));
  CHECK(becomes_true([&] {
    REQUIRE(hmn_usage_read_self(machine.context(), 0, 0, &row, nullptr) == HMN_OK);
    return (row.present & HMN_USAGE_HAS_USED) != 0 && row.used_bytes == 300 * mib;
  }));
}

TEST_CASE("if both sources fail, NVML's reason is reported, and the memory kind is kept") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")"));
  std::string answer = make_smi_scenario(R"("memory.total": "[N/A]", "memory.used": "[N/A]",
                                   "memory.free": "[N/A]", "memory.reserved": "[N/A]")");
  bool is_permanent = true;
  SUBCASE("no value in the table") {}
  SUBCASE("no table") {
    answer = R"({"failure": {"text": "NVIDIA-SMI has failed"}})";
    is_permanent = false;
  }
  SUBCASE("only another card") {
    answer.replace(answer.find("GPU-1111"), 8, "GPU-2222");
    answer.replace(answer.find("00000000:01"), 11, "00000000:02");
  }
  const Machine machine;
  const Tool smi(machine, answer);
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(read_main_pool(machine, pool, error) == HMN_E_BACKEND);
  CHECK(error.backend == HMN_BACKEND_NVML);
  CHECK(error.native_code == 999);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(snapshot.info().device_count == 1);
  CHECK(snapshot.device(0).memory_kind != HMN_MEMORY_KIND_UNIFIED);
  CHECK(snapshot.pools().empty());
  const hmn_diagnostic diagnostic =
      find_diagnostic(snapshot, HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL);
  CHECK(diagnostic.backend == HMN_BACKEND_NVML);
  CHECK(diagnostic.native_code == 999);
  CHECK((is_permanent ? smi.count_starts() == 1 : smi.was_run_seldom()));
}

TEST_CASE("the tool is not started for a card that sleeps or is left idle") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call,
                      R"(, "utilization": {"gpu": 0, "memory": 0},
                    "processes": {"compute": [], "graphics": [], "mps": []})"));
  const Machine machine({.idle_close_ns = HMN_MILLISECONDS(100)});
  const Tool smi(machine, make_smi_scenario());
  hmn_fake::PciDevice device;
  device.address = "0000:01:00.0";
  device.vendor = 0x10de;
  device.device = 0x26b9;
  device.power_control = "auto";
  SUBCASE("asleep") {
    device.runtime_status = "suspended";
    hmn_fake::add_pci_device(machine.tree(), device);
    const Snapshot snapshot(machine.context(), everything);
    CHECK(snapshot.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(smi.count_starts() == 0);
  }
  SUBCASE("left idle") {
    device.runtime_status = "active";
    hmn_fake::add_pci_device(machine.tree(), device);
    CHECK(becomes_true([&] {
      // On a slow machine it may also be closed between two readings.
      const hmn_telemetry load = read_load(machine);
      usleep(20'000);
      return nvml.initialized() == 0 && (load.notes & HMN_NOTE_STALE) != 0;
    }));
    const int starts = smi.count_starts();
    usleep(interval_us);  // of the back-off of 10 s
    const Snapshot snapshot(machine.context(), everything);
    CHECK(nvml.initialized() == 0);
    CHECK(smi.count_starts() == starts);
  }
}

TEST_CASE("the tool is not started again when another card falls asleep") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  hmn_fake::PciDevice other;
  other.address = "0000:02:00.0";
  other.vendor = 0x10de;
  other.device = 0x26b9;
  other.driver = "nvidia";
  other.runtime_status = "active";
  hmn_fake::add_pci_device(machine.tree(), other);
  read_fresh_pool(machine);
  CHECK(smi.count_starts() == 1);
  machine.tree().write("sys/bus/pci/devices/0000:02:00.0/power/runtime_status", "suspended\n");
  usleep(interval_us);
  for (int i = 0; i < 3; ++i) {
    hmn_pool pool;
    hmn_error error;
    CHECK(read_main_pool(machine, pool, error) == HMN_E_BACKEND);
    CHECK(error.backend == HMN_BACKEND_NVML);
  }
  CHECK(smi.count_starts() == 1);
}

TEST_CASE("the tool is not started if subprocesses or the tool are switched off") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  Options options;
  SUBCASE("subprocesses are switched off") {
    options.flags = HMN_CONTEXT_NO_SUBPROCESS;
  }
  SUBCASE("the tool is switched off") {
    options.backends_off = backend_bit(HMN_BACKEND_NVIDIA_SMI);
  }
  const Machine machine(options);
  const Tool smi(machine, make_smi_scenario());
  hmn_pool pool;
  hmn_error error;
  CHECK(read_main_pool(machine, pool, error) == HMN_E_BACKEND);
  CHECK(smi.count_starts() == 0);
}

TEST_CASE("a tool that hangs costs at most the deadline, and no value of NVML") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(1500)});
  const Tool smi(machine, R"({"gpus": [], "behaviour": {"hang": true}})");
  const auto check = [&] {
    const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(snapshot.handle(), 0, &load, nullptr) == HMN_OK);
    CHECK(load.power_watts == 17);
    CHECK((load.notes & HMN_NOTE_STALE) == 0);
    CHECK(snapshot.pools().empty());
  };
  const double elapsed_ms = measure_ms(check);
  CHECK(elapsed_ms > 1000);
  CHECK(elapsed_ms < 1500 + patient_ms / 10.0);
  CHECK(measure_fastest_ms(3, check) < 1000);
  CHECK(smi.count_starts() == 1);
}

TEST_CASE("a tool that hangs is ended after five seconds, whatever the deadline") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(patient_ms)});
  const Tool smi(machine, R"({"gpus": [], "behaviour": {"hang": true}})");
  hmn_pool pool;
  hmn_error error;
  const double elapsed_ms =
      measure_ms([&] { CHECK(read_main_pool(machine, pool, error) == HMN_E_BACKEND); });
  CHECK(elapsed_ms > 4900);
  CHECK(elapsed_ms < 5000 + patient_ms / 10.0);
}

TEST_CASE("if the tool starts to hang, its last values are kept and marked stale") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(1000), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  const Tool smi(machine, make_smi_scenario());
  read_fresh_pool(machine);
  const std::uint64_t answer_ns = now_ns();
  smi.print(R"({"gpus": [], "behaviour": {"hang": true}})");
  usleep(interval_us);
  const auto check = [&] {
    hmn_pool pool;
    hmn_error error;
    const std::uint64_t query_ns = now_ns();
    REQUIRE(read_main_pool(machine, pool, error) == HMN_OK);
    CHECK(pool.used_bytes == 9000 * mib);
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    CHECK((pool.present & HMN_POOL_HAS_USABLE) == 0);
    CHECK(pool.age_ns >= query_ns - answer_ns);
  };
  const double elapsed_ms = measure_ms(check);
  CHECK(elapsed_ms < 1000 + patient_ms / 10.0);
  CHECK(measure_fastest_ms(3, check) < 500);
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  CHECK(find_diagnostic(snapshot, HMN_COLLECT_POOLS, HMN_POOL_HAS_USABLE).reason ==
        HMN_REASON_TIMED_OUT);
  CHECK(smi.count_starts() == 2);
}

TEST_CASE("a card that NVML no longer lists is lost, even if the tool listed it") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine machine;
  const Tool smi(machine, make_smi_scenario());
  read_fresh_pool(machine);
  nvml.load(another_card);
  CHECK(becomes_true([&] {
    const Snapshot snapshot(machine.context(), HMN_COLLECT_DEVICES);
    return snapshot.device(0).state == HMN_RUN_STATE_LOST;
  }));
}
