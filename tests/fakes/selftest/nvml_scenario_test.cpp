// SPDX-License-Identifier: MIT OR Apache-2.0
#include <malloc.h>

#include <cstdlib>

#include "fake_tree.hpp"
#include "loaded_nvml.hpp"
#include "selftest.hpp"

using namespace fake_nvml;
using selftest::LoadedNvml;

namespace {

class ScenarioVariable {
 public:
  explicit ScenarioVariable(const std::string& path) { setenv(name, path.c_str(), 1); }
  ~ScenarioVariable() { unsetenv(name); }

 private:
  static constexpr const char* name = "FAKE_NVML_SCENARIO";
};

unsigned read_count(const LoadedNvml& nvml) {
  unsigned count = 0;
  REQUIRE(nvml("nvmlDeviceGetCount_v2", &count) == success);
  return count;
}

}  // namespace

TEST_CASE("nvml_scenario: without a scenario there is no driver") {
  const LoadedNvml nvml;
  CHECK(nvml("nvmlInit_v2") == error_driver_not_loaded);
  CHECK(nvml("nvmlInitWithFlags", 1U) == error_driver_not_loaded);
}

TEST_CASE("nvml_scenario: a file named by the environment is read again at the next init") {
  const LoadedNvml nvml;
  const hmn_fake::Tree tree;
  tree.write("nvml.json", R"({"devices": [{}]})");
  const ScenarioVariable variable(tree.path("nvml.json"));
  REQUIRE(nvml("nvmlInit_v2") == success);
  CHECK(read_count(nvml) == 1);
  tree.write("nvml.json", R"({"devices": [{}, {}, {}]})");
  CHECK(read_count(nvml) == 1);
  REQUIRE(nvml("nvmlShutdown") == success);
  REQUIRE(nvml("nvmlInit_v2") == success);
  CHECK(read_count(nvml) == 3);
}

TEST_CASE("nvml_scenario: a scenario may be read at each call, and an epoch ends the session") {
  const LoadedNvml nvml;
  const hmn_fake::Tree tree;
  tree.write("nvml.json", R"({"reread": "call", "devices": [{}]})");
  const ScenarioVariable variable(tree.path("nvml.json"));
  REQUIRE(nvml("nvmlInit_v2") == success);
  CHECK(read_count(nvml) == 1);
  tree.write("nvml.json", R"({"reread": "call", "devices": [{}, {}]})");
  CHECK(read_count(nvml) == 2);
  tree.write("nvml.json", R"({"reread": "call", "epoch": 1, "devices": [{}, {}]})");
  unsigned count = 0;
  CHECK(nvml("nvmlDeviceGetCount_v2", &count) == error_uninitialized);
  REQUIRE(nvml("nvmlInit_v2") == success);
  CHECK(read_count(nvml) == 2);
}

TEST_CASE("nvml_scenario: a handle follows its UUID when cards are removed and added") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"uuid": "GPU-a", "minor": 10}, {"uuid": "GPU-b", "minor": 11}]})");
  const auto first = nvml.gpu(0), second = nvml.gpu(1);
  REQUIRE(nvml.load(R"({"devices": [{"uuid": "GPU-b", "minor": 21}]})") == 0);
  unsigned minor = 0;
  CHECK(nvml("nvmlDeviceGetMinorNumber", second, &minor) == success);
  CHECK(minor == 21);
  CHECK(nvml("nvmlDeviceGetMinorNumber", first, &minor) == error_gpu_is_lost);
  REQUIRE(nvml.load(R"({"devices": [{"uuid": "GPU-b"}, {"uuid": "GPU-a", "minor": 30}]})") == 0);
  CHECK(nvml("nvmlDeviceGetMinorNumber", first, &minor) == success);
  CHECK(minor == 30);
}

TEST_CASE("nvml_scenario: an error in a scenario is reported") {
  const LoadedNvml nvml;
  for (const char* text :
       {R"({"devicez": []})", R"({"devices": [{"memry": {}}]})", R"({"devices": [)",
        R"({"devices": [{"memory": {"total": "8 GB"}}]})",
        R"({"rules": [{"call": "nvmlNoSuch", "result": 3}]})",
        R"({"rules": [{"call": "nvmlInit*", "result": "NO_SUCH_CODE"}]})",
        R"({"rules": [{"call": "nvmlInit*"}]})", R"({"process_layout": {"v3": 20}})"}) {
    CAPTURE(text);
    CHECK(nvml.load(text) == -1);
    CHECK(std::string(nvml.find_function<const char*()>("fake_nvml_problem")()) != "");
    CHECK(nvml("nvmlInit_v2") != success);
  }
}

TEST_CASE("nvml_scenario: calls are counted by symbol and device, and logged") {
  const LoadedNvml nvml;
  const hmn_fake::Tree tree;
  nvml.start(R"({"devices": [{}, {}], "log": ")" + tree.path("calls.log") + R"("})");
  unsigned minor = 0;
  nvml("nvmlDeviceGetMinorNumber", nvml.gpu(1), &minor);
  nvml("nvmlDeviceGetPowerUsage", nvml.gpu(1), &minor);
  CHECK(nvml.calls("nvmlDeviceGetMinorNumber") == 1);
  CHECK(nvml.calls("nvmlDeviceGetHandleByIndex_v2") == 2);
  CHECK(nvml.calls(nullptr) == 5);
  CHECK(nvml.calls("nvmlNoSuch") == ~0ULL);
  const auto count_device_calls =
      nvml.find_function<unsigned long long(const char*, unsigned)>("fake_nvml_device_calls");
  CHECK(count_device_calls("nvmlDeviceGetPowerUsage", 1U) == 1);
  CHECK(count_device_calls("nvmlDeviceGetPowerUsage", 0U) == 0);
  CHECK(selftest::read_file(tree.path("calls.log")) ==
        "nvmlInit_v2 - 0\n"
        "nvmlDeviceGetHandleByIndex_v2 1 0\n"
        "nvmlDeviceGetMinorNumber 1 0\n"
        "nvmlDeviceGetHandleByIndex_v2 1 0\n"
        "nvmlDeviceGetPowerUsage 1 3\n");
}

TEST_CASE("nvml_scenario: a call in the steady state does not allocate") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"memory": {"total": 3}, "processes": {"compute": [{"pid": 1}]}}]})");
  const auto gpu = nvml.gpu();
  const auto read_memory =
      nvml.find_function<Status(DeviceHandle, MemoryV1*)>("nvmlDeviceGetMemoryInfo");
  const auto list_processes = nvml.find_function<Status(DeviceHandle, unsigned*, ProcessV2*)>(
      "nvmlDeviceGetComputeRunningProcesses_v3");
  MemoryV1 memory{};
  ProcessV2 row{};
  const auto before = mallinfo2();
  Status worst_result = success;
  for (int i = 0; i < 1000; ++i) {
    unsigned count = 1;
    if (const auto result = read_memory(gpu, &memory); result != success) worst_result = result;
    if (const auto result = list_processes(gpu, &count, &row); result != success)
      worst_result = result;
  }
  const auto after = mallinfo2();
  CHECK(worst_result == success);
  CHECK(after.uordblks == before.uordblks);
}
