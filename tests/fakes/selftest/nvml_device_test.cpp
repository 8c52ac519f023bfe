// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cerrno>
#include <cstring>

#include "loaded_nvml.hpp"

using namespace fake_nvml;
using selftest::LoadedNvml;

TEST_CASE("nvml_device: before init every call fails as uninitialized") {
  const LoadedNvml nvml;
  unsigned count = 7;
  char version[80];
  REQUIRE(nvml.load(R"({"devices": [{}]})") == 0);
  CHECK(nvml("nvmlDeviceGetCount_v2", &count) == error_uninitialized);
  CHECK(nvml("nvmlSystemGetDriverVersion", &version[0], 80U) == error_uninitialized);
  CHECK(nvml("nvmlShutdown") == error_uninitialized);
  CHECK(count == 7);
}

TEST_CASE("nvml_device: sessions are counted, and handles end with the last one") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}]})");
  const auto old = nvml.gpu();
  unsigned minor = 0;
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(nvml.sessions() == 2);
  CHECK(nvml("nvmlShutdown") == success);
  CHECK(nvml("nvmlDeviceGetMinorNumber", old, &minor) == success);
  CHECK(nvml("nvmlShutdown") == success);
  CHECK(nvml.sessions() == 0);
  CHECK(nvml("nvmlInit_v2") == success);
  CHECK(nvml("nvmlDeviceGetMinorNumber", old, &minor) == error_invalid_argument);
  CHECK(nvml("nvmlDeviceGetMinorNumber", nvml.gpu(), &minor) == success);
}

TEST_CASE("nvml_device: identity is that of the scenario") {
  const LoadedNvml nvml;
  nvml.start(R"({"driver_version": "535.54.03", "devices": [
      {"name": "A", "uuid": "GPU-a", "minor": 3,
       "pci": {"address": "00010000:0a:1f.0", "device_id": "0x26B910DE", "subsystem_id": 5}}, {}]})");
  unsigned count = 0;
  CHECK(nvml("nvmlDeviceGetCount_v2", &count) == success);
  CHECK(count == 2);
  char text[96];
  CHECK(nvml("nvmlSystemGetDriverVersion", &text[0], 80U) == success);
  CHECK(std::string(text) == "535.54.03");
  CHECK(nvml("nvmlDeviceGetUUID", nvml.gpu(), &text[0], 96U) == success);
  CHECK(std::string(text) == "GPU-a");
  CHECK(nvml("nvmlDeviceGetUUID", nvml.gpu(), &text[0], 5U) == error_insufficient_size);
  PciInfo pci{};
  CHECK(nvml("nvmlDeviceGetPciInfo_v3", nvml.gpu(), &pci) == success);
  CHECK(std::string(pci.bus_id) == "00010000:0A:1F.0");
  CHECK(std::string(pci.bus_id_legacy) == "0000:0A:1F.0");
  CHECK(pci.domain == 0x10000);
  CHECK(pci.pci_device_id == 0x26B910DE);
  CHECK(pci.pci_subsystem_id == 5);
}

TEST_CASE("nvml_device: handles are found by UUID and bus id") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  DeviceHandle handle = nullptr;
  CHECK(nvml("nvmlDeviceGetHandleByUUID", static_cast<const char*>("GPU-b"), &handle) == success);
  CHECK(handle == nvml.gpu(1));
  CHECK(nvml("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>("0000:01:00.0"),
             &handle) == success);
  CHECK(handle == nvml.gpu(0));
  CHECK(nvml("nvmlDeviceGetHandleByUUID", static_cast<const char*>("GPU-c"), &handle) ==
        error_not_found);
  CHECK(nvml("nvmlDeviceGetHandleByIndex_v2", 2U, &handle) == error_invalid_argument);
}

TEST_CASE("nvml_device: the two memory structs may differ") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"memory": {"total": "8 GiB", "free": 1, "used": 2},
                              "memory_v2": {"total": 10, "reserved": 4, "free": 3, "used": 1}}]})");
  MemoryV1 first{};
  CHECK(nvml("nvmlDeviceGetMemoryInfo", nvml.gpu(), &first) == success);
  CHECK(first.total == 8589934592ULL);
  CHECK(first.free == 1);
  CHECK(first.used == 2);
  MemoryV2 second{};
  second.version = 0x02000028;
  CHECK(nvml("nvmlDeviceGetMemoryInfo_v2", nvml.gpu(), &second) == success);
  CHECK(second.total == 10);
  CHECK(second.reserved == 4);
  CHECK(second.version == 0x02000028);
}

TEST_CASE("nvml_device: a wrong version word is rejected and nothing is written") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"memory_v2": {"total": 10}, "addressing_mode": "ats"}]})");
  MemoryV2 memory{2, 99, 99, 99, 99};
  CHECK(nvml("nvmlDeviceGetMemoryInfo_v2", nvml.gpu(), &memory) == error_argument_version_mismatch);
  CHECK(memory.total == 99);
  AddressingMode mode{1, 99};
  CHECK(nvml("nvmlDeviceGetAddressingMode", nvml.gpu(), &mode) == error_argument_version_mismatch);
  mode.version = 0x01000008;
  CHECK(nvml("nvmlDeviceGetAddressingMode", nvml.gpu(), &mode) == success);
  CHECK(mode.value == 2);
}

TEST_CASE("nvml_device: omitted values are unsupported, and given errors are returned") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"temperature": 45, "power_usage_mw": {"error": "NO_PERMISSION"},
                              "fans": null, "results": {"nvmlDeviceGetTemperature": 999}}]})");
  unsigned value = 77;
  CHECK(nvml("nvmlDeviceGetEnforcedPowerLimit", nvml.gpu(), &value) == error_not_supported);
  CHECK(nvml("nvmlDeviceGetPowerUsage", nvml.gpu(), &value) == error_no_permission);
  CHECK(nvml("nvmlDeviceGetFanSpeed", nvml.gpu(), &value) == error_not_supported);
  CHECK(nvml("nvmlDeviceGetTemperature", nvml.gpu(), 0U, &value) == error_unknown);
  CHECK(value == 77);
}

TEST_CASE("nvml_device: telemetry is that of the scenario") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"utilization": {"gpu": 64, "memory": 12}, "encoder": 7,
      "temperature": 45, "power_usage_mw": 58980, "energy_mj": 12345678901, "pstate": 8,
      "clocks_mhz": {"graphics": 2520, "memory": 9001}, "fans": [30, 40],
      "pcie": {"gen": 4, "width": 16, "tx_kib_s": 11}, "clocks_event_reasons": 4,
      "ecc_errors": {"uncorrected_volatile": 2},
      "fields": {"82": 61, "83": {"type": "ulonglong", "value": 5}, "185": {"error": 3}}}]})");
  const auto gpu = nvml.gpu();
  unsigned value = 0, period = 0;
  unsigned long long wide = 0;
  Utilization use{};
  CHECK(nvml("nvmlDeviceGetUtilizationRates", gpu, &use) == success);
  CHECK(use.gpu == 64);
  CHECK(nvml("nvmlDeviceGetEncoderUtilization", gpu, &value, &period) == success);
  CHECK(value == 7);
  CHECK(nvml("nvmlDeviceGetTotalEnergyConsumption", gpu, &wide) == success);
  CHECK(wide == 12345678901ULL);
  CHECK(nvml("nvmlDeviceGetClockInfo", gpu, 2U, &value) == success);
  CHECK(value == 9001);
  CHECK(nvml("nvmlDeviceGetClockInfo", gpu, 3U, &value) == error_not_supported);
  CHECK(nvml("nvmlDeviceGetFanSpeed_v2", gpu, 1U, &value) == success);
  CHECK(value == 40);
  CHECK(nvml("nvmlDeviceGetPcieThroughput", gpu, 0U, &value) == success);
  CHECK(value == 11);
  for (const char* name :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    CHECK(nvml(name, gpu, &wide) == success);
    CHECK(wide == 4);
  }
  CHECK(nvml("nvmlDeviceGetTotalEccErrors", gpu, 1U, 0U, &wide) == success);
  CHECK(wide == 2);
  FieldValue fields[4] = {};
  const unsigned ids[4] = {82, 83, 185, 186};
  for (unsigned i = 0; i < 4; ++i) fields[i].id = ids[i];
  CHECK(nvml("nvmlDeviceGetFieldValues", gpu, 4, &fields[0]) == success);
  CHECK(fields[0].value_type == field_unsigned_int);
  CHECK(fields[0].value.unsigned_int == 61);
  CHECK(fields[1].value_type == field_unsigned_long_long);
  CHECK(fields[2].result == error_not_supported);
  CHECK(fields[3].result == error_not_supported);
}

TEST_CASE("nvml_device: MIG instances are separate devices") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"utilization": {"error": 3}, "mig": {"max": 7, "instances": [
      {"slot": 0, "gi": 1, "name": "MIG 1g.18gb", "uuid": "MIG-x", "memory": {"total": 5},
       "processes": {"compute": [{"pid": 9, "used": 1, "gi": 1, "ci": 0}]}},
      {"slot": 3, "gi": 4, "ci": 2, "uuid": "MIG-y"}]}}, {}]})");
  const auto gpu = nvml.gpu();
  unsigned value = 0, pending = 0;
  CHECK(nvml("nvmlDeviceGetMigMode", gpu, &value, &pending) == success);
  CHECK(value == 1);
  CHECK(nvml("nvmlDeviceGetMaxMigDeviceCount", gpu, &value) == success);
  CHECK(value == 7);
  DeviceHandle first = nullptr, second = nullptr, parent = nullptr;
  CHECK(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 1U, &first) == error_not_found);
  CHECK(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 7U, &first) == error_invalid_argument);
  CHECK(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 0U, &first) == success);
  CHECK(nvml("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 3U, &second) == success);
  CHECK(nvml("nvmlDeviceIsMigDeviceHandle", first, &value) == success);
  CHECK(value == 1);
  CHECK(nvml("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", first, &parent) == success);
  CHECK(parent == gpu);
  CHECK(nvml("nvmlDeviceGetGpuInstanceId", second, &value) == success);
  CHECK(value == 4);
  CHECK(nvml("nvmlDeviceGetComputeInstanceId", second, &value) == success);
  CHECK(value == 2);
  MemoryV1 memory{};
  CHECK(nvml("nvmlDeviceGetMemoryInfo", first, &memory) == success);
  CHECK(memory.total == 5);
  CHECK(nvml("nvmlDeviceGetMemoryInfo", second, &memory) == error_not_supported);
  CHECK(nvml("nvmlDeviceGetMigMode", nvml.gpu(1), &value, &pending) == error_not_supported);
  CHECK(nvml("nvmlDeviceGetMaxMigDeviceCount", nvml.gpu(1), &value) == success);
  CHECK(value == 0);
}

TEST_CASE("nvml_device: every call changes errno") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}]})");
  const auto gpu = nvml.gpu();
  unsigned minor = 0;
  errno = 0;
  CHECK(nvml("nvmlDeviceGetMinorNumber", gpu, &minor) == success);
  CHECK(errno != 0);
}

TEST_CASE("nvml_device: an invalid handle does not crash") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{}]})");
  unsigned minor = 0;
  int local = 0;
  for (auto* wild : {static_cast<void*>(nullptr), static_cast<void*>(&local)})
    CHECK(nvml("nvmlDeviceGetMinorNumber", static_cast<DeviceHandle>(wild), &minor) ==
          error_invalid_argument);
  CHECK(nvml("nvmlDeviceGetMinorNumber", nvml.gpu(), static_cast<unsigned*>(nullptr)) ==
        error_invalid_argument);
}
