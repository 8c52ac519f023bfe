// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a device whose call hangs does not affect the other devices of its driver, unless the
// driver's library itself is locked.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "machine.hpp"

namespace {

constexpr hmn_flags all_subjects =
    HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_PROCESSES | HMN_COLLECT_METRICS;
constexpr const char* any_call = "nvmlDevice*";

std::string make_hang_rule(unsigned device, const std::string& call = any_call,
                           const char* more = "", const std::string& condition = "true") {
  return R"({"call": ")" + call + R"(", "device": )" + std::to_string(device) + R"(, "hang": )" +
         condition + more + "}";
}

constexpr std::uint64_t expected_use(unsigned device) {
  return (device + 1) * 1'000'000'000ULL;
}

std::string gpus(unsigned count, const std::string& rules = {}) {
  std::string devices;
  for (unsigned i = 0; i < count; ++i) {
    const std::string digit = std::to_string(i + 1);
    devices += (i == 0 ? R"({"name": "GPU )" : R"(, {"name": "GPU )") + digit +
               R"(", "uuid": "GPU-)" + digit + R"(", "pci": {"address": "00000000:0)" + digit +
               R"(:00.0"}, "utilization": {"gpu": 5, "memory": 1}, "memory": )" +
               R"({"total": 8000000000, "free": )" +
               std::to_string(8'000'000'000 - expected_use(i)) + R"(, "used": )" + digit +
               R"(000000000}, "processes": {"compute": []}})";
  }
  return R"({"devices": [)" + devices + R"(], "rules": [)" + rules + "]}";
}

const hmn_pool* find_pool(const std::vector<hmn_pool>& pools, std::uint32_t device) {
  const auto it = std::find_if(pools.begin(), pools.end(),
                               [&](const hmn_pool& pool) { return pool.device_index == device; });
  return it == pools.end() ? nullptr : &*it;
}

bool is_fresh(const Snapshot& snapshot, std::uint32_t device) {
  const auto pools = snapshot.pools();
  const hmn_pool* const pool = find_pool(pools, device);
  return pool != nullptr && (pool->notes & HMN_NOTE_STALE) == 0 &&
         pool->used_bytes == expected_use(device) &&
         snapshot.device(device).state == HMN_RUN_STATE_READY;
}

bool has_reason(const Snapshot& snapshot, const char* words) {
  const auto diagnostics = snapshot.diagnostics();
  return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const hmn_diagnostic& diagnostic) {
    return diagnostic.status == HMN_E_TIMEOUT &&
           std::string(diagnostic.message).find(words) != std::string::npos;
  });
}

bool are_all_fresh(const Machine& machine, std::uint32_t count) {
  const Snapshot snapshot(machine.context());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (snapshot.info().device_count != count || !is_fresh(snapshot, i)) return false;
  }
  return true;
}

// Only the hung device lacks values, with a reason, and keeps its index.
void check_one_hung(const Machine& machine, std::uint32_t hung, std::uint32_t count = 2) {
  const double elapsed_ms = measure_ms([&] {
    const Snapshot snapshot(machine.context(), all_subjects);
    REQUIRE(snapshot.info().device_count == count);
    for (std::uint32_t i = 0; i < count; ++i) {
      CAPTURE(i);
      if (i != hung) CHECK(is_fresh(snapshot, i));
    }
    CHECK(snapshot.device(hung).state == HMN_RUN_STATE_HUNG);
    CHECK_FALSE(is_fresh(snapshot, hung));
    CHECK(has_reason(snapshot, "a driver call for this device has not returned"));
  });
  CHECK(elapsed_ms < patient_ms / 2);
}

void check_recovery(const Machine& machine, const FakeNvml& nvml, std::uint32_t count = 2) {
  nvml.load(gpus(count));
  CHECK(becomes_true([&] {
    nvml.release();
    return are_all_fresh(machine, count);
  }));
  nvml.load(gpus(count));
  CHECK(becomes_true([&] { return nvml.initialized() == 1; }));  // one thread is left
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

TEST_CASE("a device that hangs in any call does not affect the other one's first reading") {
  const FakeNvml nvml;
  for (const char* call : calls) {
    INFO(std::string(call));
    nvml.load(gpus(2, make_hang_rule(0, call)));
    const Machine machine;
    check_one_hung(machine, 0);
    CHECK(nvml.hanging() == 1);
    check_recovery(machine, nvml);
  }
}

TEST_CASE("a device that hangs later does not affect the other one, and may hang again") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine machine({.stale_ns = HMN_MILLISECONDS(1)});
  REQUIRE(are_all_fresh(machine, 2));
  for (const char* call : {"nvmlDeviceGetMemoryInfo*", "nvmlDeviceGetUtilizationRates"}) {
    INFO(std::string(call));
    nvml.load(gpus(2, make_hang_rule(1, call)));
    check_one_hung(machine, 1);
    const double later = measure_fastest_ms(10, [&] { check_one_hung(machine, 1); });
    CHECK(later < 200);
    CHECK(nvml.hanging() == 1);
    check_recovery(machine, nvml);
  }
}

TEST_CASE("two of three devices may hang") {
  const FakeNvml nvml;
  nvml.load(gpus(3, make_hang_rule(0) + ", " + make_hang_rule(1)));
  const Machine machine;
  const Snapshot snapshot(machine.context());
  REQUIRE(snapshot.info().device_count == 3);
  CHECK(is_fresh(snapshot, 2));
  CHECK(snapshot.device(0).state == HMN_RUN_STATE_HUNG);
  CHECK(snapshot.device(1).state == HMN_RUN_STATE_HUNG);
  CHECK(nvml.hanging() == 2);
  check_recovery(machine, nvml, 3);
}

TEST_CASE("seven of eight devices may hang") {
  const FakeNvml nvml;
  std::string rules = make_hang_rule(0);
  for (unsigned i = 1; i < 7; ++i) rules += ", " + make_hang_rule(i);
  nvml.load(gpus(8, rules));
  const Machine machine;
  const Snapshot snapshot(machine.context());
  REQUIRE(snapshot.info().device_count == 8);
  CHECK(is_fresh(snapshot, 7));
  for (std::uint32_t i = 0; i < 7; ++i) CHECK(snapshot.device(i).state == HMN_RUN_STATE_HUNG);
  CHECK_FALSE(has_reason(snapshot, "answers for no device"));
  CHECK(nvml.hanging() == 7);
  check_recovery(machine, nvml, 8);
}

TEST_CASE("a driver that uses up the deadline leaves time for the sources that need little") {
  const FakeNvml nvml;
  nvml.load(gpus(2, make_hang_rule(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(1000), .stale_ns = HMN_MILLISECONDS(1)});
  const hmn_fake::Tree& tree = machine.tree();
  hmn_fake::PciDevice card = hmn_fake::amd_card("0000:63:00.0");
  card.drm_nodes = {"card0", "renderD128"};
  card.files = {{"mem_info_vram_total", "8589934592\n"}, {"mem_info_vram_used", "1073741824\n"}};
  hmn_fake::add_pci_device(tree, card);
  // The number of /dev/null, which replaces the node.
  tree.write("sys/" + hmn_fake::pci_folder(card.address) + "/drm/renderD128/dev", "1:3\n");
  hmn_fake::Process client = hmn_fake::simple_process(42, "drawing", 100, 10);
  client.descriptors = {{3, "/dev/null"}};
  client.fdinfo = {{3,
                    "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:63:00.0\n"
                    "drm-client-id:\t7\ndrm-total-vram:\t2048 KiB\n"
                    "drm-resident-vram:\t2048 KiB\n"}};
  hmn_fake::add_process(tree, client);
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, tree.path("proc").c_str(),
                               nullptr) == HMN_OK);
  for (int i = 0; i < 2; ++i) {
    const Snapshot snapshot(machine.context(), all_subjects);
    REQUIRE(snapshot.usages().size() == 1);
    CHECK(snapshot.usages()[0].pid == 42);
    CHECK(snapshot.usages()[0].used_bytes == 2048 * 1024);
  }
  nvml.release();
}

TEST_CASE("a direct reading is fresh if another device hangs") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(2000), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(becomes_true([&] { return are_all_fresh(machine, 2); }));
  nvml.load(gpus(2, make_hang_rule(0)));
  const auto read = [&](std::uint32_t index) {
    auto pool = sized<hmn_pool>();
    REQUIRE(hmn_pool_read(machine.context(), index, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.used_bytes == expected_use(index));
    return (pool.notes & HMN_NOTE_STALE) == 0;
  };
  CHECK_FALSE(read(0));
  CHECK(becomes_true([&] { return read(1); }));
  CHECK_FALSE(read(0));
  REQUIRE(hmn_device_scan(machine.context(), nullptr, nullptr, nullptr) == HMN_OK);
  auto device = sized<hmn_device>();
  REQUIRE(hmn_device_read(machine.context(), 0, 0, &device, nullptr) == HMN_OK);
  CHECK(device.state == HMN_RUN_STATE_HUNG);
  CHECK(std::string(device.name) == "GPU 1");
  nvml.load(gpus(2));
  CHECK(becomes_true([&] {
    nvml.release();
    return read(0);
  }));
}

TEST_CASE("a device that is slow, but within the deadline, is read") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine machine;
  REQUIRE(are_all_fresh(machine, 2));
  nvml.load(
      gpus(2, R"({"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "delay_ms": 600, "times": 1})"));
  CHECK(are_all_fresh(machine, 2));
}

TEST_CASE("devices that all start slowly are read once they have started") {
  const FakeNvml nvml;
  nvml.load(gpus(3, R"({"call": "nvmlDeviceGetHandleByIndex*", "delay_ms": 700, "times": 3})"));
  const Machine machine;
  CHECK(are_all_fresh(machine, 3));
}

TEST_CASE("a locked library affects all its devices, for one deadline") {
  const FakeNvml nvml;
  nvml.load(gpus(3));
  constexpr std::uint32_t deadline_ms = 2000;
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(deadline_ms), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(becomes_true([&] { return are_all_fresh(machine, 3); }));
  nvml.load(gpus(3, make_hang_rule(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const double elapsed_ms = measure_ms([&] {
    const Snapshot snapshot(machine.context());
    REQUIRE(snapshot.pools().size() == 3);
    for (const hmn_pool& pool : snapshot.pools()) CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(snapshot.device(i).state == HMN_RUN_STATE_HUNG);
    CHECK(has_reason(snapshot, "answers for no device"));
    auto memory = sized<hmn_process_memory>();
    CHECK(hmn_snapshot_memory(snapshot.handle(), &memory, nullptr) == HMN_OK);
  });
  CHECK(elapsed_ms >= deadline_ms * 0.9);
  CHECK(elapsed_ms < deadline_ms * 3);
  CHECK(measure_fastest_ms(10, [&] { const Snapshot snapshot(machine.context()); }) < 200);
  CHECK(nvml.inside() == 2);  // no more threads are started
  check_recovery(machine, nvml, 3);
}

TEST_CASE("a library locked from the first reading on is reported as the reason") {
  const FakeNvml nvml;
  constexpr std::uint32_t deadline_ms = 2000;
  nvml.load(gpus(3, make_hang_rule(0, "nvmlDeviceGetMemoryInfo*", R"(, "holds_lock": true)")));
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(deadline_ms)});
  const double elapsed_ms = measure_ms([&] {
    const Snapshot snapshot(machine.context());
    CHECK(snapshot.info().device_count == 0);
    CHECK(snapshot.info().pool_count == 0);
    CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
    CHECK(has_reason(snapshot, "answers for no device"));
  });
  CHECK(elapsed_ms >= deadline_ms * 0.9);
  CHECK(elapsed_ms < deadline_ms * 3);
  CHECK(nvml.inside() == 2);
  check_recovery(machine, nvml, 3);
}

TEST_CASE("a lost device loses only its own values") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine machine;
  REQUIRE(are_all_fresh(machine, 2));
  nvml.load(gpus(2, R"({"call": "nvmlDevice*", "device": 0, "result": "GPU_IS_LOST"})"));
  const double elapsed_ms = measure_fastest_ms(5, [&] {
    const Snapshot snapshot(machine.context());
    CHECK(is_fresh(snapshot, 1));
    CHECK(snapshot.device(0).state == HMN_RUN_STATE_LOST);
  });
  CHECK(elapsed_ms < 200);
  CHECK(nvml.inside() == 0);
}

TEST_CASE("a state reported only by the memory call becomes the state of the device") {
  const FakeNvml nvml;
  for (const auto& [result, state] : {std::pair("RESET_REQUIRED", HMN_RUN_STATE_UNREADABLE),
                                      std::pair("GPU_IS_LOST", HMN_RUN_STATE_LOST)}) {
    INFO(std::string(result));
    nvml.load(gpus(2));
    const Machine machine;
    REQUIRE(are_all_fresh(machine, 2));
    nvml.load(gpus(2, R"({"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "result": ")" +
                          std::string(result) + "\"}"));
    const Snapshot snapshot(machine.context());
    CHECK(snapshot.device(0).state == static_cast<std::uint32_t>(state));
    CHECK(is_fresh(snapshot, 1));
  }
}

TEST_CASE("a key is not reported as missing while a hung device may have it") {
  const FakeNvml nvml;
  for (const bool both_return : {false, true}) {
    CAPTURE(both_return);
    const hmn_fake::Tree tree;
    nvml.load(
        gpus(3, make_hang_rule(0, any_call, "", R"({"until_file": ")" + tree.path("go") + "\"}") +
                    ", " + make_hang_rule(1)));
    const Machine machine;
    for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"}) {
      hmn_fake::PciDevice device;
      device.address = address;
      hmn_fake::add_pci_device(machine.tree(), device);
    }
    std::uint32_t index = 9;
    const auto find = [&](const char* key) {
      CHECK(hmn_device_scan(machine.context(), nullptr, nullptr, nullptr) == HMN_OK);
      return hmn_device_find(machine.context(), key, &index, nullptr);
    };
    CHECK(find("pci:0000:03:00.0") == HMN_OK);
    CHECK(index == 2);
    CHECK(find("pci:0000:01:00.0") == HMN_E_TIMEOUT);
    CHECK(find("uuid:GPU-1") == HMN_E_TIMEOUT);
    CHECK(find("driver:nvidia:7") == HMN_E_NO_DEVICE);
    tree.write("go", "");
    nvml.load(gpus(3, make_hang_rule(1)));
    CHECK(becomes_true([&] {
      if (both_return) nvml.release();
      return find("pci:0000:01:00.0") == HMN_OK;
    }));
    // It is the only one left on the bus.
    CHECK(becomes_true([&] { return find("pci:0000:02:00.0") == HMN_OK; }));
    CHECK(index == 1);
    CHECK(Snapshot(machine.context()).device(1).state == HMN_RUN_STATE_HUNG);
    CHECK(find("pci:0000:07:00.0") == HMN_E_NO_DEVICE);
  }
}

TEST_CASE("the instances of a hung GPU are hung") {
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
  const Machine machine({.stale_ns = HMN_MILLISECONDS(1)});
  const auto states = [&] {
    const Snapshot snapshot(machine.context());
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < snapshot.info().device_count; ++i)
      list.push_back(snapshot.device(i).state);
    CHECK(is_fresh(snapshot, 1));
    return list;
  };
  constexpr std::uint32_t ready = HMN_RUN_STATE_READY;
  constexpr std::uint32_t hung = HMN_RUN_STATE_HUNG;
  CHECK(states() == std::vector<std::uint32_t>{ready, ready, ready});
  nvml.load(scenario(make_hang_rule(0)));
  CHECK(states() == std::vector<std::uint32_t>{hung, ready, hung});
  nvml.load(scenario(""));
  CHECK(becomes_true([&] {
    nvml.release();
    return states() == std::vector<std::uint32_t>{ready, ready, ready};
  }));
}

TEST_CASE("any number of threads can read while a device hangs and returns") {
  const FakeNvml nvml;
  nvml.load(gpus(3));
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(300), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(becomes_true([&] { return are_all_fresh(machine, 3); }));
  std::atomic<bool> is_over{false};
  std::atomic<hmn_status> status{HMN_OK};  // the last one of those that are not expected
  std::atomic<std::uint64_t> wrong{0};     // value
  std::vector<std::thread> readers;
  for (std::uint32_t i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      while (!is_over) {
        auto pool = sized<hmn_pool>();
        const hmn_status read_status =
            hmn_pool_read(machine.context(), i, HMN_POOL_MAIN, 0, 0, &pool, nullptr);
        if (read_status != HMN_OK)
          status = read_status;
        else if (pool.used_bytes != expected_use(i))
          wrong = pool.used_bytes + 1;
      }
    });
  }
  for (const unsigned device : {0U, 1U, 0U}) {
    nvml.load(gpus(3, make_hang_rule(device)));
    CHECK(becomes_true([&] {
      const Snapshot snapshot(machine.context());
      return snapshot.device(device).state == HMN_RUN_STATE_HUNG && is_fresh(snapshot, 2);
    }));
    nvml.load(gpus(3));
    CHECK(becomes_true([&] {
      nvml.release();
      return are_all_fresh(machine, 3);
    }));
  }
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(status.load() == HMN_OK);
  CHECK(wrong.load() == 0);
}

TEST_CASE("earlier values are kept while the driver is too slow to list its devices") {
  const FakeNvml nvml;
  nvml.load(gpus(2));
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(50), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(becomes_true([&] { return are_all_fresh(machine, 2); }));
  nvml.load(gpus(2, R"({"call": "nvmlDeviceGetCount*", "delay_ms": 120})"));
  for (int reading = 0; reading < 12; ++reading) {
    const Snapshot snapshot(machine.context());
    CHECK_FALSE(is_fresh(snapshot, 0));
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(machine.context(), 1, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.used_bytes == expected_use(1));
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the slow reading ends meanwhile
  }
}

TEST_CASE("a context is destroyed at once while calls for several devices hang") {
  const FakeNvml nvml;
  nvml.load(gpus(3, make_hang_rule(0) + ", " + make_hang_rule(1)));
  Machine machine;
  const Snapshot snapshot(machine.context());
  CHECK(nvml.hanging() == 2);
  machine.destroy();  // would never return
  CHECK(becomes_true([&] { return nvml.inside() == 2; }));
  nvml.release();
  CHECK(becomes_true([&] { return nvml.initialized() == 0; }));
}
