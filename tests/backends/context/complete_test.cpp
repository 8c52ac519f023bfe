// SPDX-License-Identifier: MIT OR Apache-2.0
//
// nvidia-smi serves every call when NVML cannot, and else the subjects that NVML fails to read.
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

// The fake executable in a folder of its own.
class Tool {
 public:
  explicit Tool(const Machine& m, const std::string& scenario = one_card)
      : folder_(m.tree().path("tool")) {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, path());
    print(scenario);
    REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_NVIDIA_SMI, path().c_str(), nullptr) ==
            HMN_OK);
  }
  void print(const std::string& scenario) const {
    const std::filesystem::path next = folder_ / "next.json";
    std::ofstream(next) << scenario;
    std::filesystem::rename(next, folder_ / "nvidia-smi.json");
  }
  // `query`: those with this word alone.
  [[nodiscard]] int starts(const std::string& query = {}) const {
    std::ifstream log(folder_ / "nvidia-smi.log");
    int lines = 0;
    for (std::string line; std::getline(log, line);) lines += line.find(query) != line.npos ? 1 : 0;
    return lines;
  }
  // Whether each query was run, and at most once in each second since the tool was made.
  [[nodiscard]] bool was_run_seldom(std::initializer_list<const char*> queries = {
                                        "--query-gpu"}) const {
    const auto seconds = static_cast<int>((now_ns() - made_ns_) / second_ns);
    int all = 0;
    for (const char* const query : queries) {
      const int ran = starts(query);
      if (ran == 0 || ran > 1 + seconds) return false;
      all += ran;
    }
    return all == starts();
  }

 private:
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "nvidia-smi"; }
  std::filesystem::path folder_;
  std::uint64_t made_ns_ = now_ns();
};

constexpr std::uint64_t mib = 1 << 20;
constexpr useconds_t interval_us = 1'100'000;

constexpr hmn_flags everything = HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_SELF |
                                 HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS;

// A card of which NVML has every value, but for these results of calls; `members` replace others.
std::string full_card(const std::string& results = {}, const std::string& members = {}) {
  return one_gpu({}, R"(, "utilization": {"gpu": 11, "memory": 12}, "encoder": 13, "decoder": 14,
    "temperature": 15, "fields": {"82": 16}, "power_usage_mw": 17000,
    "enforced_power_limit_mw": 18000, "energy_mj": 19000,
    "clocks_mhz": {"graphics": 20, "sm": 20, "memory": 21, "video": 20}, "fans": 22,
    "pcie": {"gen": 3, "width": 8}, "pstate": 4, "clocks_event_reasons": 0)" +
                         members + R"(, "results": {)" + results + "}");
}

// The results of all calls of telemetry: `code`.
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

// Of the same card: values that differ from those of NVML.
std::string smi_with(const std::string& fields = {}, const std::string& apps = {}) {
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

std::uint64_t bit_of(std::uint32_t backend) {
  return std::uint64_t{1} << backend;
}

hmn_telemetry load_of(const Machine& m, hmn_fields fields = 0) {
  auto load = sized<hmn_telemetry>();
  auto error = sized<hmn_error>();
  const hmn_status said = hmn_telemetry_read(m.context(), 0, fields, &load, &error);
  CAPTURE(error.message);
  REQUIRE(said == HMN_OK);
  return load;
}

hmn_status main_pool(const Machine& m, hmn_pool& pool, hmn_error& error) {
  pool = sized<hmn_pool>();
  error = sized<hmn_error>();
  return hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error);
}

hmn_diagnostic reason_of(const TakenSnapshot& p, hmn_flags subject, hmn_fields field) {
  auto why = sized<hmn_diagnostic>();
  REQUIRE(read_reason(p.handle(), 0, subject, field, &why) == HMN_OK);
  return why;
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

}  // namespace

TEST_CASE("without NVML the tool gives count, devices, memory and processes") {
  const Machine m({}, false);
  const Tool smi(m);
  std::uint32_t count = 0;
  auto error = sized<hmn_error>();
  REQUIRE(hmn_device_scan(m.context(), &count, nullptr, &error) == HMN_OK);
  CHECK(count == 1);
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_OK);
  CHECK(pool.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(pool.total_bytes == 46068 * mib);
  CHECK(pool.used_bytes == 9123 * mib);
  CHECK(pool.reserved_bytes == 599 * mib);
  const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES);
  REQUIRE(p.info().usage_count == 1);
  CHECK(p.usages()[0].pid == 20037);
  CHECK(p.usages()[0].used_bytes == 538 * mib);
}

TEST_CASE("a reading starts one process for all devices, and one more for the process list") {
  const Machine m({}, false);
  const Tool smi(m);
  { const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY); }
  CHECK(smi.starts() == 1);
  { const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES); }
  CHECK(smi.starts() == 3);
}

TEST_CASE("while NVML serves, and when subprocesses are forbidden, the tool is not started") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  SUBCASE("NVML serves") {
    const Machine m;
    const Tool smi(m);
    const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES);
    CHECK(p.device(0).backend == HMN_BACKEND_NVML);
    CHECK(smi.starts() == 0);
  }
  SUBCASE("forbidden") {
    const Machine m({.flags = HMN_CONTEXT_NO_SUBPROCESS}, false);
    const Tool smi(m);
    const TakenSnapshot p(m.context());
    CHECK(p.info().device_count == 0);
    CHECK(smi.starts() == 0);
  }
}

TEST_CASE("a card that the tool listed") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "result": 9}])"));
  const Machine m;
  const Tool smi(m);
  {
    const TakenSnapshot p(m.context());
    REQUIRE(p.info().device_count == 1);
    CHECK(p.device(0).backend == HMN_BACKEND_NVIDIA_SMI);
    const auto why = p.diagnostics();
    REQUIRE(!why.empty());
    CHECK(why[0].backend == HMN_BACKEND_NVML);
    CHECK(why[0].native_code == 9);
  }
  SUBCASE("keeps its index when NVML comes back") {
    nvml.load(one_gpu());
    CHECK(comes_true([&] {
      const TakenSnapshot p(m.context());
      REQUIRE(p.info().device_count == 1);
      CHECK(p.device(0).index == 0);
      return p.device(0).backend == HMN_BACKEND_NVML;
    }));
  }
  SUBCASE("is lost when NVML comes back without it") {
    nvml.load(another_card);
    CHECK(comes_true([&] {
      const TakenSnapshot p(m.context());
      return p.info().device_count == 2 && p.device(0).state == HMN_RUN_STATE_LOST &&
             p.device(1).state == HMN_RUN_STATE_READY;
    }));
  }
}

TEST_CASE("where NVML has all values the tool is not started, and nothing more is opened") {
  const FakeNvml nvml;
  nvml.load(full_card());
  const Machine m;
  const Tool smi(m, smi_with());
  { const TakenSnapshot first(m.context(), everything); }
  const auto before = open_descriptors();
  const TakenSnapshot p(m.context(), everything);
  const hmn_telemetry load = load_of(m);
  CHECK(load.backends == bit_of(HMN_BACKEND_NVML));
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(main_pool(m, pool, error) == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_MIXED) == 0);
  auto device = sized<hmn_device>();
  CHECK(hmn_device_read(m.context(), 0, 0, &device, &error) == HMN_OK);
  CHECK(open_descriptors() == before);
  CHECK(smi.starts() == 0);
}

TEST_CASE("telemetry of which NVML can read nothing is the tool's") {
  const FakeNvml nvml;
  nvml.load(full_card(no_telemetry("UNKNOWN")));
  const Machine m;
  const Tool smi(m, smi_with());
  const hmn_telemetry load = load_of(m);
  CHECK(load.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(load.backends == bit_of(HMN_BACKEND_NVIDIA_SMI));
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
  CHECK(smi.starts() == 1);
}

TEST_CASE("a single value that fails is absent, and does not start the tool") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetFanSpeed*": "UNKNOWN", "nvmlDeviceGetName": "UNKNOWN")"));
  const Machine m;
  const Tool smi(m, smi_with());
  const TakenSnapshot p(m.context(), everything);
  const hmn_diagnostic why = reason_of(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT);
  CHECK(why.backend == HMN_BACKEND_NVML);
  CHECK(why.native_code == 999);
  CHECK(load_of(m).temperature_celsius == 15);
  CHECK(smi.starts() == 0);
}

TEST_CASE("memory that NVML does not give is the tool's") {
  const FakeNvml nvml;
  std::string results, members;
  SUBCASE("an error") {
    results = R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")";
  }
  SUBCASE("no permission") {
    results = R"("nvmlDeviceGetMemoryInfo*": "NO_PERMISSION")";
  }
  SUBCASE("no such symbol") {
    results = R"("nvmlDeviceGetMemoryInfo*": "FUNCTION_NOT_FOUND")";
  }
  SUBCASE("a sentinel") {
    members = R"(, "memory": {"total": "0xffffffffffffffff"},
                   "memory_v2": {"total": "0xffffffffffffffff"})";
  }
  nvml.load(full_card(results, members));
  const Machine m;
  const Tool smi(m, smi_with());
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(main_pool(m, pool, error) == HMN_OK);
  CHECK(pool.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(pool.total_bytes == 46080 * mib);
  CHECK(pool.used_bytes == 9000 * mib);
  CHECK(pool.free_bytes == 36480 * mib);
  CHECK(pool.usable_bytes == pool.free_bytes);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  CHECK(smi.starts() == 1);
}

TEST_CASE("used memory that does not add up is absent, and does not start the tool") {
  const FakeNvml nvml;
  const std::string odd = R"({"total": "45 GiB", "free": "36480 MiB", "used": "1 GiB"})";
  nvml.load(full_card({}, R"(, "memory": )" + odd + R"(, "memory_v2": )" + odd));
  const Machine m;
  const Tool smi(m, smi_with());
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  REQUIRE(p.pools().size() == 1);
  const hmn_pool pool = p.pools()[0];
  CHECK(pool.backend == HMN_BACKEND_NVML);
  CHECK((pool.notes & HMN_NOTE_MIXED) == 0);
  CHECK(pool.total_bytes == 46080 * mib);
  CHECK((pool.present & (HMN_POOL_HAS_USED | HMN_POOL_HAS_FREE)) == 0);
  CHECK(smi.starts() == 0);
}

TEST_CASE("a library that has no more than identities leaves the other values to the tool") {
  const FakeNvml nvml(HMN_FAKE_NVML_INIT_ONLY);
  nvml.load(full_card());
  const Machine m({}, false);
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_NVML, HMN_FAKE_NVML_INIT_ONLY, &error) ==
          HMN_OK);
  const Tool smi(m, smi_with({}, R"({"pid": 20037, "process_name": "a", "used_gpu_memory": 538})"));
  const TakenSnapshot p(m.context(), everything);
  REQUIRE(p.info().device_count == 1);
  CHECK(p.device(0).backend == HMN_BACKEND_NVML);
  CHECK(std::string(p.device(0).name) == "NVIDIA L40S");
  REQUIRE(p.pools().size() == 1);
  CHECK(p.pools()[0].total_bytes == 46080 * mib);
  REQUIRE(p.usages().size() == 1);
  CHECK(p.usages()[0].used_bytes == 538 * mib);
  CHECK(p.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  auto load = sized<hmn_telemetry>();
  REQUIRE(hmn_snapshot_find_telemetry(p.handle(), 0, &load, nullptr) == HMN_OK);
  CHECK(load.power_watts == 57);
  CHECK(smi.starts() == 2);  // the cards, and the processes
}

TEST_CASE("the memory of a process that NVML lists without it is the tool's") {
  const FakeNvml nvml;
  const std::string own = std::to_string(getpid());
  nvml.load(full_card({}, R"(, "processes": {"compute": [
    {"pid": "self", "used": null}, {"pid": 4104711, "used": "1 GiB"}], "graphics": [
    {"pid": 4104712, "used": null}]})"));
  const Machine m;
  const Tool smi(m, smi_with({}, R"({"pid": )" + own +
                                     R"(, "process_name": "a", "used_gpu_memory": 300},
    {"pid": 4104711, "process_name": "b", "used_gpu_memory": 9}, {"pid": 5, "used_gpu_memory": 1})"));
  auto row = sized<hmn_usage>();
  auto error = sized<hmn_error>();
  SUBCASE("of the caller") {
    REQUIRE(hmn_usage_read_self(m.context(), 0, 0, &row, &error) == HMN_OK);
    CHECK(row.used_bytes == 300 * mib);
    CHECK(row.backend == HMN_BACKEND_NVML);
    CHECK((row.notes & HMN_NOTE_MIXED) != 0);
  }
  SUBCASE("of one process") {
    REQUIRE(hmn_usage_read(m.context(), 0, static_cast<std::uint32_t>(getpid()), 0, &row, &error) ==
            HMN_OK);
    CHECK(row.used_bytes == 300 * mib);
  }
  SUBCASE("in the list, which stays that of NVML") {
    const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES);
    REQUIRE(p.usages().size() == 3);
    for (const hmn_usage& each : p.usages()) {
      const bool has_used = (each.present & HMN_USAGE_HAS_USED) != 0;
      if (each.pid == 4104711) CHECK(each.used_bytes == 1024 * mib);
      if (each.pid == 4104711) CHECK((each.notes & HMN_NOTE_MIXED) == 0);
      if (each.pid == 4104712) CHECK(!has_used);
      if (each.pid == static_cast<std::uint32_t>(getpid())) CHECK(each.used_bytes == 300 * mib);
    }
  }
  // The cards are listed once, to know which one a row is of.
  CHECK(smi.starts() == 2);
}

TEST_CASE("processes that NVML cannot list are the tool's") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGet*RunningProcesses*": "UNKNOWN")"));
  const Machine m;
  const Tool smi(m, smi_with({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9})"));
  const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS);
  REQUIRE(p.usages().size() == 1);
  CHECK(p.usages()[0].used_bytes == 9 * mib);
  CHECK(p.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  // The tool does not list processes that draw.
  CHECK((p.usages()[0].notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK(reason_of(p, HMN_COLLECT_PROCESSES, 0).backend == HMN_BACKEND_NVML);
  CHECK((p.pools()[0].present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  auto row = sized<hmn_usage>();
  CHECK(hmn_usage_read(m.context(), 0, 4104711, 0, &row, nullptr) == HMN_OK);
  CHECK(row.used_bytes == 9 * mib);
  CHECK((row.notes & HMN_NOTE_STALE) == 0);
  CHECK(smi.was_run_seldom({"--query-gpu", "--query-compute-apps"}));
}

TEST_CASE("a process that NVML does not list is no reason to start the tool") {
  const FakeNvml nvml;
  nvml.load(full_card());
  const Machine m;
  const Tool smi(m, smi_with());
  auto row = sized<hmn_usage>();
  CHECK(hmn_usage_read(m.context(), 0, 4104711, 0, &row, nullptr) == HMN_E_NO_PROCESS);
  CHECK(smi.starts() == 0);
}

namespace {

hmn_pool fresh_pool(const Machine& m) {
  hmn_pool pool;
  hmn_error error;
  const hmn_status said = main_pool(m, pool, error);
  CAPTURE(error.message);
  REQUIRE(said == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  CHECK((pool.present & HMN_POOL_HAS_USABLE) != 0);
  return pool;
}

std::string smi_using(std::uint64_t used_mib) {
  return smi_with("\"memory.used\": " + std::to_string(used_mib) +
                  ", \"memory.free\": " + std::to_string(46080 - 600 - used_mib));
}

constexpr const char* no_memory_call = R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")";

}  // namespace

TEST_CASE("an answer of the tool serves a second, fresh and with its age; then it runs again") {
  const FakeNvml nvml;
  nvml.load(full_card(std::string(no_memory_call) + ", " + no_telemetry("UNKNOWN")));
  const Machine m({.stale_ns = HMN_MILLISECONDS(60'000)});
  const Tool smi(m, smi_using(1000));
  const std::uint64_t begun = now_ns();
  CHECK(fresh_pool(m).used_bytes == 1000 * mib);
  const std::uint64_t answered = now_ns();
  smi.print(smi_using(9000));
  usleep(20'000);
  const std::uint64_t longest_ns = std::max(second_ns, 2 * (answered - begun));
  CHECK(comes_true([&] {
    const std::uint64_t asked = now_ns();
    const hmn_pool pool = fresh_pool(m);
    const hmn_telemetry power = load_of(m, HMN_TELEMETRY_HAS_POWER);  // of the same run
    CHECK(power.power_watts == 57);
    CHECK((power.notes & HMN_NOTE_STALE) == 0);
    const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
    CHECK((p.pools().at(0).notes & HMN_NOTE_STALE) == 0);
    if (pool.used_bytes != 1000 * mib) return pool.used_bytes == 9000 * mib;
    CHECK(asked - answered < longest_ns);
    CHECK(pool.age_ns >= asked - answered);
    CHECK(pool.age_ns <= now_ns() - begun);
    return false;
  }));
  CHECK(now_ns() - begun >= second_ns);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("values that the tool fills in decide what fits, each time") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m;
  const Tool smi(m, smi_using(9000));
  hmn_tracker* tracker = nullptr;
  REQUIRE(hmn_tracker_create(m.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
  for (int i = 0; i < 10; ++i) {
    CHECK(hmn_tracker_would_fit(tracker, 36480 * mib, nullptr) == HMN_OK);
    CHECK(hmn_tracker_would_fit(tracker, 36480 * mib + 1, nullptr) == HMN_E_LIMIT);
    usleep(250'000);
  }
  hmn_tracker_destroy(tracker);
  CHECK(smi.starts() >= 2);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("many threads share one run of the tool, also its first") {
  const FakeNvml nvml;
  nvml.load(
      full_card(no_memory_call, R"(, "processes": {"compute": [{"pid": 4104711, "used": null}],
                                        "graphics": [], "mps": []})"));
  const Machine m;
  const Tool smi(m, smi_with({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9})"));
  std::atomic<int> right{0};
  const auto ask = [&] {
    for (int i = 0; i < 20; ++i) {
      auto pool = sized<hmn_pool>();
      auto row = sized<hmn_usage>();
      const bool has_pool = hmn_pool_read(m.context(), 0, 0, 0, 0, &pool, nullptr) == HMN_OK;
      const bool has_row = hmn_usage_read(m.context(), 0, 4104711, 0, &row, nullptr) == HMN_OK;
      const bool is_stale = ((pool.notes | row.notes) & HMN_NOTE_STALE) != 0;
      if (has_pool && has_row && !is_stale && pool.used_bytes == 9000 * mib &&
          row.used_bytes == 9 * mib) {
        ++right;
      }
    }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) all.emplace_back(ask);
  for (std::thread& each : all) each.join();
  CHECK(right == 160);
  CHECK(smi.was_run_seldom({"--query-gpu", "--query-compute-apps"}));
}

TEST_CASE("a sampler that is faster than the tool shows its last values with their age") {
  const FakeNvml nvml;
  nvml.load(full_card(std::string(no_memory_call) + ", " + no_telemetry("UNKNOWN")));
  const Machine m;
  const Tool smi(m, smi_with());
  auto how = sized<hmn_sampler_options>();
  how.interval_ns = HMN_MILLISECONDS(50);
  hmn_sampler* sampler = nullptr;
  REQUIRE(hmn_sampler_create(m.context(), &how, nullptr, &sampler, nullptr) == HMN_OK);
  const std::uint64_t begun = now_ns();
  REQUIRE(hmn_sampler_start(sampler, nullptr) == HMN_OK);
  CHECK(comes_true([&] {
    hmn_snapshot* taken = nullptr;
    REQUIRE(hmn_sampler_next(sampler, HMN_NS_UNLIMITED, &taken, nullptr) == HMN_OK);
    auto pool = sized<hmn_pool>();
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_pool_at(taken, 0, &pool, nullptr) == HMN_OK);
    REQUIRE(hmn_snapshot_find_telemetry(taken, 0, &load, nullptr) == HMN_OK);
    hmn_snapshot_destroy(taken);
    CHECK(pool.used_bytes == 9000 * mib);
    CHECK(load.power_watts == 57);
    CHECK(load.temperature_celsius == 55);
    CHECK(((pool.notes | load.notes) & HMN_NOTE_STALE) == 0);
    CHECK(pool.age_ns <= now_ns() - begun);
    auto latest = sized<hmn_pool>();
    REQUIRE(hmn_sampler_latest_pool(sampler, 0, &latest, nullptr) == HMN_OK);
    CHECK(latest.used_bytes == 9000 * mib);
    CHECK(latest.age_ns <= now_ns() - begun);
    return smi.starts() >= 3;
  }));
  hmn_sampler_destroy(sampler);
  CHECK(smi.was_run_seldom());
}

TEST_CASE("a card of which NVML has no value for good does not start the tool") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetFanSpeed*": "NOT_SUPPORTED",
                         "nvmlDeviceGetEncoderUtilization": "NOT_SUPPORTED")"));
  const Machine m;
  const Tool smi(m, smi_with());
  CHECK((load_of(m).present & HMN_TELEMETRY_HAS_FAN_PERCENT) == 0);
  const TakenSnapshot p(m.context(), everything);
  CHECK(reason_of(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT).reason ==
        HMN_REASON_UNSUPPORTED);
  CHECK(smi.starts() == 0);
}

TEST_CASE("a reading of other subjects blames the tool for no process list") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m;
  const Tool smi(m, smi_with());
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
  for (const hmn_diagnostic& d : p.diagnostics()) {
    CAPTURE(d.message);
    CHECK(d.subject != HMN_COLLECT_PROCESSES);
    CHECK(d.status != HMN_E_TIMEOUT);
  }
  CHECK((p.info().notes & HMN_NOTE_PARTIAL) == 0);
  CHECK(smi.starts() == 1);
}

TEST_CASE(
    "a list of processes that NVML cannot read is joined with the tool's, and stays partial") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetComputeRunningProcesses*": "UNKNOWN")",
                      R"(, "processes": {"compute": [], "graphics": [
                           {"pid": 4104712, "used": "1 GiB"}], "mps": []})"));
  const Machine m;
  const Tool smi(m, smi_with({}, R"({"pid": 4104711, "process_name": "b", "used_gpu_memory": 9},
                                    {"pid": 4104712, "process_name": "c", "used_gpu_memory": 8})"));
  const TakenSnapshot p(m.context(), HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS);
  REQUIRE(p.usages().size() == 2);
  CHECK(p.usages()[0].pid == 4104711);
  CHECK(p.usages()[0].used_bytes == 9 * mib);
  CHECK(p.usages()[0].backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(p.usages()[1].used_bytes == 1024 * mib);
  CHECK(p.usages()[1].backend == HMN_BACKEND_NVML);
  for (const hmn_usage& each : p.usages()) CHECK((each.notes & HMN_NOTE_LOWER_BOUND) != 0);
  REQUIRE(p.pools().size() == 1);
  CHECK((p.pools()[0].present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  const hmn_diagnostic why = reason_of(p, HMN_COLLECT_PROCESSES, 0);
  CHECK(why.backend == HMN_BACKEND_NVML);
  CHECK(why.native_code == 999);
  CHECK(smi.starts() == 2);
}

TEST_CASE("what neither has is asked for once, and its reason is NVML's") {
  const FakeNvml nvml;
  nvml.load(
      full_card(no_telemetry("NO_PERMISSION"),
                R"(, "processes": {"compute": [{"pid": 4104711, "used": null}], "graphics": []})"));
  const Machine m;
  const Tool smi(m, R"({"gpus": [{"fields": {
    "uuid": "GPU-11111111-2222-3333-4444-555555555555", "pci.bus_id": "00000000:01:00.0"},
    "compute_apps": [{"pid": 4104711, "used_gpu_memory": "[N/A]"}]}]})");
  const auto check = [&] {
    const TakenSnapshot p(m.context(), everything);
    const hmn_diagnostic why = reason_of(p, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE);
    CHECK(why.backend == HMN_BACKEND_NVML);
    CHECK(why.status == HMN_E_PERMISSION);
    CHECK(why.native_code == 4);
    REQUIRE(p.usages().size() == 1);
    CHECK((p.usages()[0].present & HMN_USAGE_HAS_USED) == 0);
    CHECK(smi.starts() == 2);
  };
  check();
  usleep(interval_us);
  check();
}

TEST_CASE("what the tool fails to read now is asked for again") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call, R"(, "processes": {"compute": [
    {"pid": "self", "used": null}], "graphics": []})"));
  const Machine m;
  const std::string own = R"({"pid": )" + std::to_string(getpid()) + R"(, "used_gpu_memory": )";
  const Tool smi(m,
                 smi_with(R"("memory.total": "[Unknown Error]")", own + R"("[Unknown Error]"})"));
  hmn_pool pool;
  hmn_error error;
  auto row = sized<hmn_usage>();
  CHECK(main_pool(m, pool, error) == HMN_E_BACKEND);
  CHECK(hmn_usage_read_self(m.context(), 0, 0, &row, nullptr) == HMN_OK);
  CHECK((row.present & HMN_USAGE_HAS_USED) == 0);
  smi.print(smi_with({}, own + "300}"));
  CHECK(comes_true([&] { return main_pool(m, pool, error) == HMN_OK; }));
  CHECK(comes_true([&] {
    REQUIRE(hmn_usage_read_self(m.context(), 0, 0, &row, nullptr) == HMN_OK);
    return (row.present & HMN_USAGE_HAS_USED) != 0 && row.used_bytes == 300 * mib;
  }));
}

TEST_CASE("a fault of both is NVML's, and makes no other memory out of the card's") {
  const FakeNvml nvml;
  nvml.load(full_card(R"("nvmlDeviceGetMemoryInfo*": "UNKNOWN")"));
  std::string answer = smi_with(R"("memory.total": "[N/A]", "memory.used": "[N/A]",
                                   "memory.free": "[N/A]", "memory.reserved": "[N/A]")");
  bool lasts = true;
  SUBCASE("no value in the table") {}
  SUBCASE("no table") {
    answer = R"({"failure": {"text": "NVIDIA-SMI has failed"}})";
    lasts = false;
  }
  SUBCASE("another card") {
    answer.replace(answer.find("GPU-1111"), 8, "GPU-2222");
    answer.replace(answer.find("00000000:01"), 11, "00000000:02");
  }
  const Machine m;
  const Tool smi(m, answer);
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  CHECK(main_pool(m, pool, error) == HMN_E_BACKEND);
  CHECK(error.backend == HMN_BACKEND_NVML);
  CHECK(error.native_code == 999);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(p.info().device_count == 1);
  CHECK(p.device(0).memory_kind != HMN_MEMORY_KIND_UNIFIED);
  CHECK(p.pools().empty());
  const hmn_diagnostic why = reason_of(p, HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL);
  CHECK(why.backend == HMN_BACKEND_NVML);
  CHECK(why.native_code == 999);
  CHECK((lasts ? smi.starts() == 1 : smi.was_run_seldom()));
}

TEST_CASE("the tool is not started for a card that sleeps or is let to") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call,
                      R"(, "utilization": {"gpu": 0, "memory": 0},
                    "processes": {"compute": [], "graphics": [], "mps": []})"));
  const Machine m({.idle_close_ns = HMN_MILLISECONDS(100)});
  const Tool smi(m, smi_with());
  hmn_fake::PciDevice place;
  place.address = "0000:01:00.0";
  place.vendor = 0x10de;
  place.device = 0x26b9;
  place.power_control = "auto";
  SUBCASE("asleep") {
    place.runtime_status = "suspended";
    hmn_fake::add_pci_device(m.tree(), place);
    const TakenSnapshot p(m.context(), everything);
    CHECK(p.device(0).state == HMN_RUN_STATE_ASLEEP);
    CHECK(smi.starts() == 0);
  }
  SUBCASE("left alone") {
    place.runtime_status = "active";
    hmn_fake::add_pci_device(m.tree(), place);
    CHECK(comes_true([&] {
      // Not only closed while nothing was read, as on a slow machine.
      const hmn_telemetry load = load_of(m);
      usleep(20'000);
      return nvml.initialized() == 0 && (load.notes & HMN_NOTE_STALE) != 0;
    }));
    const int starts = smi.starts();
    usleep(interval_us);  // of the 10 s of rest
    const TakenSnapshot p(m.context(), everything);
    CHECK(nvml.initialized() == 0);
    CHECK(smi.starts() == starts);
  }
}

TEST_CASE("the tool is not started again when another card falls asleep, which it would wake") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m;
  const Tool smi(m, smi_with());
  hmn_fake::PciDevice other;
  other.address = "0000:02:00.0";
  other.vendor = 0x10de;
  other.device = 0x26b9;
  other.driver = "nvidia";
  other.runtime_status = "active";
  hmn_fake::add_pci_device(m.tree(), other);
  fresh_pool(m);
  CHECK(smi.starts() == 1);
  m.tree().write("sys/bus/pci/devices/0000:02:00.0/power/runtime_status", "suspended\n");
  usleep(interval_us);
  for (int i = 0; i < 3; ++i) {
    hmn_pool pool;
    hmn_error error;
    CHECK(main_pool(m, pool, error) == HMN_E_BACKEND);
    CHECK(error.backend == HMN_BACKEND_NVML);
  }
  CHECK(smi.starts() == 1);
}

TEST_CASE("the tool is not started where the context starts no programs, or not this one") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  Options o;
  SUBCASE("none") {
    o.flags = HMN_CONTEXT_NO_SUBPROCESS;
  }
  SUBCASE("not this one") {
    o.backends_off = bit_of(HMN_BACKEND_NVIDIA_SMI);
  }
  const Machine m(o);
  const Tool smi(m, smi_with());
  hmn_pool pool;
  hmn_error error;
  CHECK(main_pool(m, pool, error) == HMN_E_BACKEND);
  CHECK(smi.starts() == 0);
}

TEST_CASE("a tool that hangs costs no more than the deadline, and no value of NVML") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(1500)});
  const Tool smi(m, R"({"gpus": [], "behaviour": {"hang": true}})");
  const auto check = [&] {
    const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY);
    auto load = sized<hmn_telemetry>();
    REQUIRE(hmn_snapshot_find_telemetry(p.handle(), 0, &load, nullptr) == HMN_OK);
    CHECK(load.power_watts == 17);
    CHECK((load.notes & HMN_NOTE_STALE) == 0);
    CHECK(p.pools().empty());
  };
  const double took = milliseconds_of(check);
  CHECK(took > 1000);
  CHECK(took < 1500 + patient_ms / 10.0);
  CHECK(quickest_of(3, check) < 1000);
  CHECK(smi.starts() == 1);
}

TEST_CASE("a tool that hangs is given up after five seconds, however long the reading may take") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(patient_ms)});
  const Tool smi(m, R"({"gpus": [], "behaviour": {"hang": true}})");
  hmn_pool pool;
  hmn_error error;
  const double took = milliseconds_of([&] { CHECK(main_pool(m, pool, error) == HMN_E_BACKEND); });
  CHECK(took > 4900);
  CHECK(took < 5000 + patient_ms / 10.0);
}

TEST_CASE("a tool that begins to hang leaves its last values, which grow stale") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m(
      {.deadline_ns = HMN_MILLISECONDS(1000), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  const Tool smi(m, smi_with());
  fresh_pool(m);
  const std::uint64_t answered = now_ns();
  smi.print(R"({"gpus": [], "behaviour": {"hang": true}})");
  usleep(interval_us);
  const auto check = [&] {
    hmn_pool pool;
    hmn_error error;
    const std::uint64_t asked = now_ns();
    REQUIRE(main_pool(m, pool, error) == HMN_OK);
    CHECK(pool.used_bytes == 9000 * mib);
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    CHECK((pool.present & HMN_POOL_HAS_USABLE) == 0);
    CHECK(pool.age_ns >= asked - answered);
  };
  const double took = milliseconds_of(check);
  CHECK(took < 1000 + patient_ms / 10.0);
  CHECK(quickest_of(3, check) < 500);
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS);
  CHECK(reason_of(p, HMN_COLLECT_POOLS, HMN_POOL_HAS_USABLE).reason == HMN_REASON_TIMED_OUT);
  CHECK(smi.starts() == 2);
}

TEST_CASE("a card that NVML no longer lists is lost, whatever the tool listed") {
  const FakeNvml nvml;
  nvml.load(full_card(no_memory_call));
  const Machine m;
  const Tool smi(m, smi_with());
  fresh_pool(m);
  nvml.load(another_card);
  CHECK(comes_true([&] {
    const TakenSnapshot p(m.context(), HMN_COLLECT_DEVICES);
    return p.device(0).state == HMN_RUN_STATE_LOST;
  }));
}
