// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>
#include <fstream>
#include <thread>

#include "fake_tree.hpp"
#include "loaded_nvml.hpp"

using namespace fake_nvml;
using selftest::LoadedNvml;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

Status read_minor(const LoadedNvml& nvml, DeviceHandle gpu) {
  unsigned minor = 0;
  return nvml("nvmlDeviceGetMinorNumber", gpu, &minor);
}

void wait_until_hanging(const LoadedNvml& nvml, int count) {
  const auto deadline = Clock::now() + 5s;
  while (nvml.find_function<int()>("fake_nvml_hanging")() != count) {
    if (Clock::now() > deadline) FAIL("no call hangs");
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("nvml_rules: a GPU is lost at the third call and back after two calls") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}, {}], "rules": [{"call": "nvmlDeviceGetMinor*", "device": 0,
      "result": "GPU_IS_LOST", "from": 3, "times": 2}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  const Status expected[] = {success, success, error_gpu_is_lost, error_gpu_is_lost, success};
  for (const auto result : expected) {
    CHECK(read_minor(nvml, first) == result);
    CHECK(read_minor(nvml, second) == success);
  }
}

TEST_CASE("nvml_rules: the first rule with a result hides later rules") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}], "rules": [
      {"call": "nvmlDeviceGetMinorNumber", "result": 10, "times": 1},
      {"call": "nvmlDeviceGetMinorNumber", "result": 999, "times": 1}]})");
  const auto gpu = nvml.gpu();
  CHECK(read_minor(nvml, gpu) == error_timeout);
  CHECK(read_minor(nvml, gpu) == error_unknown);
  CHECK(read_minor(nvml, gpu) == success);
}

TEST_CASE("nvml_rules: init fails with any given code") {
  const LoadedNvml nvml;
  for (const int code : {9, 18, 4, 12, 27, 999}) {
    REQUIRE(nvml.load(R"({"devices": [{}], "rules": [{"call": "nvmlInit*", "result": )" +
                      std::to_string(code) + "}]}") == 0);
    CHECK(nvml("nvmlInit_v2") == static_cast<Status>(code));
    CHECK(nvml("nvmlInitWithFlags", 0U) == static_cast<Status>(code));
    CHECK(nvml.sessions() == 0);
  }
}

TEST_CASE("nvml_rules: init without GPUs needs the flag that allows it") {
  const LoadedNvml nvml;
  REQUIRE(nvml.load(R"({"without_gpus": "GPU_NOT_FOUND"})") == 0);
  CHECK(nvml("nvmlInit_v2") == error_gpu_not_found);
  CHECK(nvml("nvmlInitWithFlags", 1U) == success);
  CHECK(nvml.find_function<unsigned()>("fake_nvml_init_flags")() == 1);
}

TEST_CASE("nvml_rules: a reloaded driver returns uninitialized until the next init") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}], "rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED",
      "from": 3, "until_init": true}]})");
  const auto gpu = nvml.gpu();
  CHECK(read_minor(nvml, gpu) == success);
  CHECK(read_minor(nvml, gpu) == error_uninitialized);
  CHECK(nvml("nvmlShutdown") == success);
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(read_minor(nvml, nvml.gpu()) == success);

  nvml.find_function<void()>("fake_nvml_driver_reload")();
  CHECK(read_minor(nvml, gpu) == error_uninitialized);
  CHECK(nvml.sessions() == 0);
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(read_minor(nvml, nvml.gpu()) == success);
}

TEST_CASE("nvml_rules: init may be delayed") {
  const LoadedNvml nvml;
  REQUIRE(nvml.load(R"({"devices": [{}],
      "rules": [{"call": "nvmlInit*", "delay_ms": 60, "times": 1}]})") == 0);
  const auto start = Clock::now();
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(Clock::now() - start >= 60ms);
}

TEST_CASE("nvml_rules: a call hangs until it is released") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}, {}],
      "rules": [{"call": "nvmlDeviceGetMinorNumber", "device": 0, "hang": true}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  Status late_result = error_unknown;
  std::thread stuck_thread([&] { late_result = read_minor(nvml, first); });
  wait_until_hanging(nvml, 1);
  CHECK(nvml.find_function<int()>("fake_nvml_inside")() == 1);
  CHECK(read_minor(nvml, second) == success);
  nvml.find_function<void()>("fake_nvml_release")();
  stuck_thread.join();
  CHECK(late_result == success);
  CHECK(nvml.find_function<int()>("fake_nvml_inside")() == 0);
}

TEST_CASE("nvml_rules: a call that hangs until a file appears blocks other calls") {
  const LoadedNvml nvml;
  const hmn_fake::Tree tree;
  nvml.start(R"({"devices": [{}, {}], "rules": [{"call": "nvmlDeviceGetMinorNumber", "device": 0,
      "result": 15, "holds_lock": true, "hang": {"until_file": ")" +
             tree.path("go") + R"("}}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  Status late_result = error_unknown;
  std::atomic<bool> is_second_done{false};
  std::thread stuck_thread([&] { late_result = read_minor(nvml, first); });
  wait_until_hanging(nvml, 1);
  std::thread second_thread([&] {
    read_minor(nvml, second);
    is_second_done = true;
  });
  std::this_thread::sleep_for(30ms);
  CHECK_FALSE(is_second_done);
  tree.write("go", "");
  stuck_thread.join();
  second_thread.join();
  CHECK(late_result == error_gpu_is_lost);
}

TEST_CASE("nvml_rules: rules of a GPU apply to its MIG instances unless they name one") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"mig": {"instances": [{"uuid": "MIG-a"}, {"uuid": "MIG-b"}]}}],
      "rules": [{"call": "nvmlDeviceGetUUID", "device": 0, "mig": 1, "result": 15},
                {"call": "nvmlDeviceGetIndex", "device": 0, "result": 15}]})");
  DeviceHandle first = nullptr, second = nullptr;
  REQUIRE(nvml("nvmlDeviceGetMigDeviceHandleByIndex", nvml.gpu(), 0U, &first) == success);
  REQUIRE(nvml("nvmlDeviceGetMigDeviceHandleByIndex", nvml.gpu(), 1U, &second) == success);
  char uuid[96];
  unsigned index = 0;
  CHECK(nvml("nvmlDeviceGetUUID", first, &uuid[0], 96U) == success);
  CHECK(nvml("nvmlDeviceGetUUID", second, &uuid[0], 96U) == error_gpu_is_lost);
  CHECK(nvml("nvmlDeviceGetIndex", first, &index) == error_gpu_is_lost);
}
