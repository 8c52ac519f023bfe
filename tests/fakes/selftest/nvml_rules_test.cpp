// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>
#include <fstream>
#include <thread>

#include "fake_tree.hpp"
#include "loaded_nvml.hpp"

using namespace fake_nvml;
using selftest::LoadedNvml;
using ClockType = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

Status minor_of(const LoadedNvml& nvml, DeviceHandle gpu) {
  unsigned minor = 0;
  return nvml("nvmlDeviceGetMinorNumber", gpu, &minor);
}

void wait_until_hanging(const LoadedNvml& nvml, int count) {
  const auto end = ClockType::now() + 5s;
  while (nvml.call<int()>("fake_nvml_hanging")() != count) {
    if (ClockType::now() > end) FAIL("no call hangs");
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("nvml_rules: lost at the third call, back after two") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}, {}], "rules": [{"call": "nvmlDeviceGetMinor*", "device": 0,
      "result": "GPU_IS_LOST", "from": 3, "times": 2}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  const Status expected[] = {success, success, error_gpu_is_lost, error_gpu_is_lost, success};
  for (const auto one : expected) {
    CHECK(minor_of(nvml, first) == one);
    CHECK(minor_of(nvml, second) == success);
  }
}

TEST_CASE("nvml_rules: the first rule with a result hides the call from later ones") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}], "rules": [
      {"call": "nvmlDeviceGetMinorNumber", "result": 10, "times": 1},
      {"call": "nvmlDeviceGetMinorNumber", "result": 999, "times": 1}]})");
  const auto gpu = nvml.gpu();
  CHECK(minor_of(nvml, gpu) == error_timeout);
  CHECK(minor_of(nvml, gpu) == error_unknown);
  CHECK(minor_of(nvml, gpu) == success);
}

TEST_CASE("nvml_rules: init can fail in every way") {
  const LoadedNvml nvml;
  for (const int code : {9, 18, 4, 12, 27, 999}) {
    REQUIRE(nvml.load(R"({"devices": [{}], "rules": [{"call": "nvmlInit*", "result": )" +
                      std::to_string(code) + "}]}") == 0);
    CHECK(nvml("nvmlInit_v2") == static_cast<Status>(code));
    CHECK(nvml("nvmlInitWithFlags", 0U) == static_cast<Status>(code));
    CHECK(nvml.sessions() == 0);
  }
}

TEST_CASE("nvml_rules: no GPU and the flag that allows it") {
  const LoadedNvml nvml;
  REQUIRE(nvml.load(R"({"without_gpus": "GPU_NOT_FOUND"})") == 0);
  CHECK(nvml("nvmlInit_v2") == error_gpu_not_found);
  CHECK(nvml("nvmlInitWithFlags", 1U) == success);
  CHECK(nvml.call<unsigned()>("fake_nvml_init_flags")() == 1);
}

TEST_CASE("nvml_rules: a reloaded driver says uninitialized until the next init") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}], "rules": [{"call": "nvmlDevice*", "result": "UNINITIALIZED",
      "from": 3, "until_init": true}]})");
  const auto gpu = nvml.gpu();
  CHECK(minor_of(nvml, gpu) == success);
  CHECK(minor_of(nvml, gpu) == error_uninitialized);
  CHECK(nvml("nvmlShutdown") == success);
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(minor_of(nvml, nvml.gpu()) == success);

  nvml.call<void()>("fake_nvml_driver_reload")();
  CHECK(minor_of(nvml, gpu) == error_uninitialized);
  CHECK(nvml.sessions() == 0);
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(minor_of(nvml, nvml.gpu()) == success);
}

TEST_CASE("nvml_rules: slow init") {
  const LoadedNvml nvml;
  REQUIRE(nvml.load(R"({"devices": [{}],
      "rules": [{"call": "nvmlInit*", "delay_ms": 60, "times": 1}]})") == 0);
  const auto start = ClockType::now();
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(ClockType::now() - start >= 60ms);
}

TEST_CASE("nvml_rules: a call hangs until it is released") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}, {}],
      "rules": [{"call": "nvmlDeviceGetMinorNumber", "device": 0, "hang": true}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  Status late = error_unknown;
  std::thread stuck([&] { late = minor_of(nvml, first); });
  wait_until_hanging(nvml, 1);
  CHECK(nvml.call<int()>("fake_nvml_inside")() == 1);
  CHECK(minor_of(nvml, second) == success);
  nvml.call<void()>("fake_nvml_release")();
  stuck.join();
  CHECK(late == success);
  CHECK(nvml.call<int()>("fake_nvml_inside")() == 0);
}

TEST_CASE("nvml_rules: a call hangs until a file appears, and holds up the others") {
  const LoadedNvml nvml;
  const hmn_fake::Tree tree;
  nvml.start(R"({"devices": [{}, {}], "rules": [{"call": "nvmlDeviceGetMinorNumber", "device": 0,
      "result": 15, "holds_lock": true, "hang": {"until_file": ")" +
             tree.path("go") + R"("}}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  Status late = error_unknown;
  std::atomic<bool> other_done{false};
  std::thread stuck([&] { late = minor_of(nvml, first); });
  wait_until_hanging(nvml, 1);
  std::thread other([&] {
    minor_of(nvml, second);
    other_done = true;
  });
  std::this_thread::sleep_for(30ms);
  CHECK_FALSE(other_done);
  tree.write("go", "");
  stuck.join();
  other.join();
  CHECK(late == error_gpu_is_lost);
}

TEST_CASE("nvml_rules: MIG instances follow their GPU's rules unless one is singled out") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"mig": {"instances": [{"uuid": "MIG-a"}, {"uuid": "MIG-b"}]}}],
      "rules": [{"call": "nvmlDeviceGetUUID", "device": 0, "mig": 1, "result": 15},
                {"call": "nvmlDeviceGetIndex", "device": 0, "result": 15}]})");
  DeviceHandle a = nullptr, b = nullptr;
  REQUIRE(nvml("nvmlDeviceGetMigDeviceHandleByIndex", nvml.gpu(), 0U, &a) == success);
  REQUIRE(nvml("nvmlDeviceGetMigDeviceHandleByIndex", nvml.gpu(), 1U, &b) == success);
  char uuid[96];
  unsigned index = 0;
  CHECK(nvml("nvmlDeviceGetUUID", a, &uuid[0], 96U) == success);
  CHECK(nvml("nvmlDeviceGetUUID", b, &uuid[0], 96U) == error_gpu_is_lost);
  CHECK(nvml("nvmlDeviceGetIndex", a, &index) == error_gpu_is_lost);
}
