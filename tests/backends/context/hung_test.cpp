// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a device whose call hangs costs the other devices of its driver nothing, unless the
// driver's library itself is locked.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "machine.hpp"

namespace {

constexpr hmn_flags all =
    HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS;
constexpr const char* any_call = "nvmlDevice*";

std::string hang(unsigned device, const std::string& call = any_call, const char* more = "",
                 const std::string& how = "true") {
  return R"({"call": ")" + call + R"(", "device": )" + std::to_string(device) + R"(, "hang": )" +
         how + more + "}";
}

constexpr std::uint64_t used_by(unsigned device) {
  return (device + 1) * 1'000'000'000ULL;
}

std::string gpus(unsigned count, const std::string& rules = {}) {
  std::string devices;
  for (unsigned i = 0; i < count; ++i) {
    const std::string n = std::to_string(i + 1);
    devices += (i == 0 ? R"({"name": "GPU )" : R"(, {"name": "GPU )") + n + R"(", "uuid": "GPU-)" +
               n + R"(", "pci": {"address": "00000000:0)" + n +
               R"(:00.0"}, "utilization": {"gpu": 5, "memory": 1}, "memory": )" +
               R"({"total": 8000000000, "free": )" + std::to_string(8'000'000'000 - used_by(i)) +
               R"(, "used": )" + n + R"(000000000}, "processes": {"compute": []}})";
  }
  return R"({"devices": [)" + devices + R"(], "rules": [)" + rules + "]}";
}

const hmn_pool* pool_of(const std::vector<hmn_pool>& pools, std::uint32_t device) {
  const auto found = std::find_if(pools.begin(), pools.end(),
                                  [&](const hmn_pool& p) { return p.device_index == device; });
  return found == pools.end() ? nullptr : &*found;
}

bool is_fresh(const TakenSnapshot& p, std::uint32_t device) {
  const auto pools = p.pools();
  const hmn_pool* const pool = pool_of(pools, device);
  return pool != nullptr && (pool->notes & HMN_NOTE_STALE) == 0 &&
         pool->used_bytes == used_by(device) && p.device(device).state == HMN_RUN_STATE_READY;
}

bool has_reason(const TakenSnapshot& p, const char* words) {
  const auto given = p.diagnostics();
  return std::any_of(given.begin(), given.end(), [&](const hmn_diagnostic& d) {
    return d.status == HMN_E_TIMEOUT && std::string(d.message).find(words) != std::string::npos;
  });
}

bool are_all_fresh(const Machine& m, std::uint32_t count) {
  const TakenSnapshot p(m.context());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (p.info().device_count != count || !is_fresh(p, i)) return false;
  }
  return true;
}

// Only the hung device lacks values, with the reason, and keeps its place.
void check_one_hung(const Machine& m, std::uint32_t hung, std::uint32_t count = 2) {
  const double spent = milliseconds_of([&] {
    const TakenSnapshot p(m.context(), all);
    REQUIRE(p.info().device_count == count);
    for (std::uint32_t i = 0; i < count; ++i) {
      CAPTURE(i);
      if (i != hung) CHECK(is_fresh(p, i));
    }
    CHECK(p.device(hung).state == HMN_RUN_STATE_HUNG);
    CHECK_FALSE(is_fresh(p, hung));
    CHECK(has_reason(p, "a driver call for this device has not returned"));
  });
  CHECK(spent < patient_ms / 2);
}

void check_return(const Machine& m, const FakeNvml& nvml, std::uint32_t count = 2) {
  nvml.load(gpus(count));
  CHECK(comes_true([&] {
    nvml.release();
    return are_all_fresh(m, count);
  }));
  nvml.load(gpus(count));
  CHECK(comes_true([&] { return nvml.initialized() == 1; }));  // one thread is left
}

constexpr const char* calls[] = {"nvmlDeviceGetHandleByIndex*",
                                 "nvmlDeviceGetName",
                                 "nvmlDeviceGetUUID",
                                 "nvmlDeviceGetPciInfo*",
                                 "nvmlDeviceGetMemoryInfo*",
                                 "nvmlDeviceGetUtilizationRates",
                                 "nvmlDeviceGetComputeRunningProcesses*",
                                 "nvmlDeviceGetSupportedEventTypes"};

}  // namespace

TEST_CASE("a device that hangs in any call costs the first reading of the other nothing") {
  const FakeNvml nvml;
  for (const char* call : calls) {
    INFO(std::string(call));
    nvml.load(gpus(2, hang(0, call)));
    const Machine m;
    check_one_hung(m, 0);
    CHECK(nvml.hanging() == 1);
    check_return(m, nvml);
  }
}

TEST_CASE("a device that hangs later costs the other nothing either, and may hang again") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine m({.stale_ns = HMN_MILLISECONDS(1)});
  REQUIRE(are_all_fresh(m, 2));
  for (const char* call : {"nvmlDeviceGetMemoryInfo*", "nvmlDeviceGetUtilizationRates"}) {
    INFO(std::string(call));
    nvml.load(gpus(2, hang(1, call)));
    check_one_hung(m, 1);
    const double later = quickest_of(10, [&] { check_one_hung(m, 1); });
    CHECK(later < 200);
    CHECK(nvml.hanging() == 1);
    check_return(m, nvml);
  }
}

TEST_CASE("of three devices two may hang") {
  const FakeNvml nvml;
  nvml.load(gpus(3, hang(0) + ", " + hang(1)));
  const Machine m;
  const TakenSnapshot p(m.context());
  REQUIRE(p.info().device_count == 3);
  CHECK(is_fresh(p, 2));
  CHECK(p.device(0).state == HMN_RUN_STATE_HUNG);
  CHECK(p.device(1).state == HMN_RUN_STATE_HUNG);
  CHECK(nvml.hanging() == 2);
  check_return(m, nvml, 3);
}

TEST_CASE("of eight devices seven may hang") {
  const FakeNvml nvml;
  std::string rules = hang(0);
  for (unsigned i = 1; i < 7; ++i) rules += ", " + hang(i);
  nvml.load(gpus(8, rules));
  const Machine m;
  const TakenSnapshot p(m.context());
  REQUIRE(p.info().device_count == 8);
  CHECK(is_fresh(p, 7));
  for (std::uint32_t i = 0; i < 7; ++i) CHECK(p.device(i).state == HMN_RUN_STATE_HUNG);
  CHECK_FALSE(has_reason(p, "answers for no device"));
  CHECK(nvml.hanging() == 7);
  check_return(m, nvml, 8);
}

TEST_CASE("a driver that uses up the deadline leaves the sources that need little their part") {
  const FakeNvml nvml;
  nvml.load(gpus(2, hang(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(1000), .stale_ns = HMN_MILLISECONDS(1)});
  const hmn_fake::Tree& t = m.tree();
  hmn_fake::PciDevice card = hmn_fake::amd_card("0000:63:00.0");
  card.drm_nodes = {"card0", "renderD128"};
  card.files = {{"mem_info_vram_total", "8589934592\n"}, {"mem_info_vram_used", "1073741824\n"}};
  hmn_fake::add_pci_device(t, card);
  // That of /dev/null, which stands for the node.
  t.write("sys/" + hmn_fake::pci_folder(card.address) + "/drm/renderD128/dev", "1:3\n");
  hmn_fake::Process client = hmn_fake::simple_process(42, "drawing", 100, 10);
  client.descriptors = {{3, "/dev/null"}};
  client.fdinfo = {{3,
                    "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:63:00.0\n"
                    "drm-client-id:\t7\ndrm-total-vram:\t2048 KiB\n"
                    "drm-resident-vram:\t2048 KiB\n"}};
  hmn_fake::add_process(t, client);
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, t.path("proc").c_str(), nullptr) ==
          HMN_OK);
  for (int i = 0; i < 2; ++i) {
    const TakenSnapshot p(m.context(), all);
    REQUIRE(p.usages().size() == 1);
    CHECK(p.usages()[0].pid == 42);
    CHECK(p.usages()[0].used_bytes == 2048 * 1024);
  }
  nvml.release();
}

TEST_CASE("a direct reading of another device than the hung one is fresh") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine m(
      {.deadline_ns = HMN_MILLISECONDS(2000), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(comes_true([&] { return are_all_fresh(m, 2); }));
  nvml.load(gpus(2, hang(0)));
  const auto read = [&](std::uint32_t index) {
    auto pool = sized<hmn_pool>();
    REQUIRE(hmn_pool_read(m.context(), index, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.used_bytes == used_by(index));
    return (pool.notes & HMN_NOTE_STALE) == 0;
  };
  CHECK_FALSE(read(0));
  CHECK(comes_true([&] { return read(1); }));
  CHECK_FALSE(read(0));
  REQUIRE(hmn_device_scan(m.context(), nullptr, nullptr, nullptr) == HMN_OK);
  auto device = sized<hmn_device>();
  REQUIRE(hmn_device_read(m.context(), 0, 0, &device, nullptr) == HMN_OK);
  CHECK(device.state == HMN_RUN_STATE_HUNG);
  CHECK(std::string(device.name) == "GPU 1");
  nvml.load(gpus(2));
  CHECK(comes_true([&] {
    nvml.release();
    return read(0);
  }));
}

TEST_CASE("a device that is slow, but within the deadline, is read") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine m;
  REQUIRE(are_all_fresh(m, 2));
  nvml.load(
      gpus(2, R"({"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "delay_ms": 600, "times": 1})"));
  CHECK(are_all_fresh(m, 2));
}

TEST_CASE("devices that all start slowly are read once they have") {
  const FakeNvml nvml;
  nvml.load(gpus(3, R"({"call": "nvmlDeviceGetHandleByIndex*", "delay_ms": 700, "times": 3})"));
  const Machine m;
  CHECK(are_all_fresh(m, 3));
}

TEST_CASE("a library that is locked takes all its devices along, once for one deadline") {
  const FakeNvml nvml;
  nvml.load(gpus(3));
  constexpr std::uint32_t deadline_ms = 2000;
  const Machine m(
      {.deadline_ns = HMN_MILLISECONDS(deadline_ms), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(comes_true([&] { return are_all_fresh(m, 3); }));
  nvml.load(gpus(3, hang(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const double spent = milliseconds_of([&] {
    const TakenSnapshot p(m.context());
    REQUIRE(p.pools().size() == 3);
    for (const hmn_pool& pool : p.pools()) CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(p.device(i).state == HMN_RUN_STATE_HUNG);
    CHECK(has_reason(p, "answers for no device"));
    auto memory = sized<hmn_process_memory>();
    CHECK(hmn_snapshot_memory(p.handle(), &memory, nullptr) == HMN_OK);
  });
  CHECK(spent >= deadline_ms * 0.9);
  CHECK(spent < deadline_ms * 3);
  CHECK(quickest_of(10, [&] { const TakenSnapshot p(m.context()); }) < 200);
  CHECK(nvml.inside() == 2);  // no more threads are started
  check_return(m, nvml, 3);
}

TEST_CASE("a library that is locked from the first reading on is the reason, at the deadline") {
  const FakeNvml nvml;
  constexpr std::uint32_t deadline_ms = 2000;
  nvml.load(gpus(3, hang(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(deadline_ms)});
  const double spent = milliseconds_of([&] {
    const TakenSnapshot p(m.context());
    CHECK(p.info().device_count == 0);
    CHECK(p.info().pool_count == 0);
    CHECK((p.info().notes & HMN_NOTE_PARTIAL) != 0);
    CHECK(has_reason(p, "answers for no device"));
  });
  CHECK(spent >= deadline_ms * 0.9);
  CHECK(spent < deadline_ms * 3);
  CHECK(nvml.inside() == 2);
  check_return(m, nvml, 3);
}

TEST_CASE("a lost device costs its own values only") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine m;
  REQUIRE(are_all_fresh(m, 2));
  nvml.load(gpus(2, R"({"call": "nvmlDevice*", "device": 0, "result": "GPU_IS_LOST"})"));
  const double spent = quickest_of(5, [&] {
    const TakenSnapshot p(m.context());
    CHECK(is_fresh(p, 1));
    CHECK(p.device(0).state == HMN_RUN_STATE_LOST);
  });
  CHECK(spent < 200);
  CHECK(nvml.inside() == 0);
}

TEST_CASE("what only the call for memory reports is the state of that reading") {
  const FakeNvml nvml;
  for (const auto& [result, state] : {std::pair("RESET_REQUIRED", HMN_RUN_STATE_UNREADABLE),
                                      std::pair("GPU_IS_LOST", HMN_RUN_STATE_LOST)}) {
    INFO(std::string(result));
    nvml.load(gpus(2));
    const Machine m;
    REQUIRE(are_all_fresh(m, 2));
    nvml.load(gpus(2, R"({"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "result": ")" +
                          std::string(result) + "\"}"));
    const TakenSnapshot p(m.context());
    CHECK(p.device(0).state == static_cast<std::uint32_t>(state));
    CHECK(is_fresh(p, 1));
  }
}

TEST_CASE("a key that a device which hangs may have is not one that no device has") {
  const FakeNvml nvml;
  for (const bool both_return : {false, true}) {
    CAPTURE(both_return);
    const hmn_fake::Tree tree;
    nvml.load(gpus(3, hang(0, any_call, "", R"({"until_file": ")" + tree.path("go") + "\"}") +
                          ", " + hang(1)));
    const Machine m;
    for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}) {
      hmn_fake::PciDevice d;
      d.address = address;
      hmn_fake::add_pci_device(m.tree(), d);
    }
    std::uint32_t index = 9;
    const auto find = [&](const char* key) {
      CHECK(hmn_device_scan(m.context(), nullptr, nullptr, nullptr) == HMN_OK);
      return hmn_device_find(m.context(), key, &index, nullptr);
    };
    CHECK(find("pci:0000:03:00.0") == HMN_OK);
    CHECK(index == 2);
    CHECK(find("pci:0000:01:00.0") == HMN_E_TIMEOUT);
    CHECK(find("uuid:GPU-1") == HMN_E_TIMEOUT);
    CHECK(find("driver:nvidia:7") == HMN_E_NO_DEVICE);
    tree.write("go", "");
    nvml.load(gpus(3, hang(1)));
    CHECK(comes_true([&] {
      if (both_return) nvml.release();
      return find("pci:0000:01:00.0") == HMN_OK;
    }));
    // The only one left of the bus.
    CHECK(comes_true([&] { return find("pci:0000:02:00.0") == HMN_OK; }));
    CHECK(index == 1);
    CHECK(TakenSnapshot(m.context()).device(1).state == HMN_RUN_STATE_HUNG);
    CHECK(find("pci:0000:07:00.0") == HMN_E_NO_DEVICE);
  }
}

TEST_CASE("the instances of a GPU that hangs hang with it") {
  const FakeNvml nvml;
  const auto scenario = [](const std::string& rules) {
    return R"({"devices": [{"name": "A", "uuid": "GPU-A", "memory": {"total": 9000000000,
        "used": 1, "free": 8999999999}, "mig": {"mode": 1, "max": 7, "instances": [{"name": "A 1g", "uuid": "MIG-A",
        "memory": {"total": 1000000000, "used": 10, "free": 999999990}}]}},
      {"name": "B", "uuid": "GPU-B", "memory": {"total": 9000000000, "used": 2000000000,
        "free": 7000000000}}],
      "rules": [)" +
           rules + "]}";
  };
  nvml.load(scenario(""));
  const Machine m({.stale_ns = HMN_MILLISECONDS(1)});
  const auto states = [&] {
    const TakenSnapshot p(m.context());
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < p.info().device_count; ++i) found.push_back(p.device(i).state);
    CHECK(is_fresh(p, 1));
    return found;
  };
  constexpr std::uint32_t ready = HMN_RUN_STATE_READY;
  constexpr std::uint32_t hung = HMN_RUN_STATE_HUNG;
  CHECK(states() == std::vector<std::uint32_t>{ready, ready, ready});
  nvml.load(scenario(hang(0)));
  CHECK(states() == std::vector<std::uint32_t>{hung, ready, hung});
  nvml.load(scenario(""));
  CHECK(comes_true([&] {
    nvml.release();
    return states() == std::vector<std::uint32_t>{ready, ready, ready};
  }));
}

TEST_CASE("any number of threads may read while a device hangs and returns") {
  const FakeNvml nvml;
  nvml.load(gpus(3));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(300), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(comes_true([&] { return are_all_fresh(m, 3); }));
  std::atomic<bool> ends{false};
  std::atomic<hmn_status> status{HMN_OK};  // the last one of those that are not expected
  std::atomic<std::uint64_t> wrong{0};     // value
  std::vector<std::thread> readers;
  for (std::uint32_t i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      while (!ends) {
        auto pool = sized<hmn_pool>();
        const hmn_status said = hmn_pool_read(m.context(), i, HMN_POOL_MAIN, 0, 0, &pool, nullptr);
        if (said != HMN_OK)
          status = said;
        else if (pool.used_bytes != used_by(i))
          wrong = pool.used_bytes + 1;
      }
    });
  }
  for (const unsigned device : {0U, 1U, 0U}) {
    nvml.load(gpus(3, hang(device)));
    CHECK(comes_true([&] {
      const TakenSnapshot p(m.context());
      return p.device(device).state == HMN_RUN_STATE_HUNG && is_fresh(p, 2);
    }));
    nvml.load(gpus(3));
    CHECK(comes_true([&] {
      nvml.release();
      return are_all_fresh(m, 3);
    }));
  }
  ends = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(status.load() == HMN_OK);
  CHECK(wrong.load() == 0);
}

TEST_CASE("earlier values stay while the driver is too slow to list its devices") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(50), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(comes_true([&] { return are_all_fresh(m, 2); }));
  nvml.load(gpus(2, R"({"call": "nvmlDeviceGetCount*", "delay_ms": 120})"));
  for (int reading = 0; reading < 12; ++reading) {
    const TakenSnapshot p(m.context());
    CHECK_FALSE(is_fresh(p, 0));
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(m.context(), 1, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.used_bytes == used_by(1));
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the slow reading ends meanwhile
  }
}

TEST_CASE("a context is destroyed at once while calls for several devices hang") {
  const FakeNvml nvml;
  nvml.load(gpus(3, hang(0) + ", " + hang(1)));
  Machine m;
  const TakenSnapshot p(m.context());
  CHECK(nvml.hanging() == 2);
  m.destroy();  // would never return
  CHECK(comes_true([&] { return nvml.inside() == 2; }));
  nvml.release();
  CHECK(comes_true([&] { return nvml.initialized() == 0; }));
}
