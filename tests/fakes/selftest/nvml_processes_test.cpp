// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include <cstring>
#include <vector>

#include "loaded_nvml.hpp"

using namespace fake_nvml;
using selftest::LoadedNvml;

namespace {

constexpr const char* compute_v3 = "nvmlDeviceGetComputeRunningProcesses_v3";

Status list_processes(const LoadedNvml& nvml, const char* symbol, unsigned& count, void* rows) {
  return nvml(symbol, nvml.gpu(), &count, rows);
}

}  // namespace

TEST_CASE("nvml_processes: a buffer that is too small gets the count and no rows") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"compute": [{"pid": 1, "used": 5}, {"pid": 2}]}}]})");
  unsigned count = 0;
  CHECK(list_processes(nvml, compute_v3, count, nullptr) == error_insufficient_size);
  CHECK(count == 2);
  ProcessV2 rows[2] = {};
  count = 1;
  CHECK(list_processes(nvml, compute_v3, count, rows) == error_insufficient_size);
  CHECK(count == 2);
  CHECK(rows[0].pid == 0);
  CHECK(list_processes(nvml, compute_v3, count, rows) == success);
  CHECK(rows[0].pid == 1);
  CHECK(rows[0].used == 5);
  CHECK(rows[0].gpu_instance == no_instance);
  CHECK(rows[1].used == value_not_available);
}

TEST_CASE("nvml_processes: an empty list is a success, and an omitted one is unsupported") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {}}, {}, {"processes": {"error": "NO_PERMISSION"}}]})");
  unsigned count = 0;
  CHECK(list_processes(nvml, compute_v3, count, nullptr) == success);
  CHECK(count == 0);
  CHECK(nvml(compute_v3, nvml.gpu(1), &count, static_cast<void*>(nullptr)) == error_not_supported);
  CHECK(nvml(compute_v3, nvml.gpu(2), &count, static_cast<void*>(nullptr)) == error_no_permission);
}

TEST_CASE("nvml_processes: self and parent are this process and its parent") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"graphics": [{"pid": "self"}, {"pid": "parent"}]}}]})");
  ProcessV2 rows[4] = {};
  unsigned count = 4;
  CHECK(list_processes(nvml, "nvmlDeviceGetGraphicsRunningProcesses_v3", count, rows) == success);
  CHECK(count == 2);
  CHECK(rows[0].pid == static_cast<unsigned>(getpid()));
  CHECK(rows[1].pid == static_cast<unsigned>(getppid()));
}

TEST_CASE("nvml_processes: a row has 16, 24 or 32 bytes under any symbol") {
  const LoadedNvml nvml;
  const std::string device =
      R"("devices": [{"processes": {"mps": [{"pid": 7, "used": 8, "gi": 1, "ci": 2, "protected": 9},
                                            {"pid": 10, "used": 11}]}}]})";
  nvml.start("{" + device);
  unsigned count = 2;
  ProcessV1 old[2] = {};
  CHECK(list_processes(nvml, "nvmlDeviceGetMPSComputeRunningProcesses", count, old) == success);
  CHECK(old[1].pid == 10);
  CHECK(old[1].used == 11);

  REQUIRE(nvml.load(R"({"process_layout": {"v3": 32}, )" + device) == 0);
  ProcessDetail wide[2] = {};
  CHECK(list_processes(nvml, "nvmlDeviceGetMPSComputeRunningProcesses_v3", count, wide) == success);
  CHECK(wide[0].protected_used == 9);
  CHECK(wide[1].pid == 10);
  // A client that assumes 24 bytes reads its second row from the end of the first.
  ProcessV2 believed{};
  std::memcpy(&believed, reinterpret_cast<const char*>(wide) + sizeof believed, sizeof believed);
  CHECK(believed.pid == 9);
  CHECK(believed.used == 10);
}

TEST_CASE("nvml_processes: the detail list has protected memory") {
  const LoadedNvml nvml;
  nvml.start(
      R"({"devices": [{"processes": {"graphics": [{"pid": 7, "used": 8, "protected": 9}]}}]})");
  ProcessDetail row{};
  ProcessDetailList list{process_detail_list_version, 1, 1, &row};
  CHECK(nvml("nvmlDeviceGetRunningProcessDetailList", nvml.gpu(), &list) == success);
  CHECK(list.count == 1);
  CHECK(row.protected_used == 9);
  list.version = 1;
  CHECK(nvml("nvmlDeviceGetRunningProcessDetailList", nvml.gpu(), &list) ==
        error_argument_version_mismatch);
}

TEST_CASE("nvml_processes: 70,000 processes are listed") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"compute":
      {"generate": {"count": 70000, "first_pid": 100000, "used": "1 MiB"}}}}]})");
  unsigned count = 0;
  CHECK(list_processes(nvml, compute_v3, count, nullptr) == error_insufficient_size);
  REQUIRE(count == 70000);
  std::vector<ProcessV2> rows(count);
  CHECK(list_processes(nvml, compute_v3, count, rows.data()) == success);
  CHECK(rows.front().pid == 100000);
  CHECK(rows.back().pid == 169999);
  CHECK(rows.back().used == 1048576);
}

TEST_CASE("nvml_processes: a list may grow between two calls") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"compute":
      {"rows": [{"pid": 1}], "grow": {"rows": 2, "times": 2, "first_pid": 50}}}}]})");
  std::vector<ProcessV2> rows(8);
  unsigned count = 0;
  CHECK(list_processes(nvml, compute_v3, count, nullptr) == error_insufficient_size);
  CHECK(count == 1);
  CHECK(list_processes(nvml, compute_v3, count, rows.data()) == error_insufficient_size);
  CHECK(count == 3);
  CHECK(list_processes(nvml, compute_v3, count, rows.data()) == error_insufficient_size);
  CHECK(count == 5);
  CHECK(list_processes(nvml, compute_v3, count, rows.data()) == success);
  CHECK(count == 5);
  CHECK(rows[4].pid == 53);
}

TEST_CASE("nvml_processes: a driver may count rows that it does not write") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"compute": {"rows": [{"pid": 1}], "claim": 3}}}]})");
  ProcessV2 rows[3] = {{9, 9, 9, 9}, {9, 9, 9, 9}, {9, 9, 9, 9}};
  unsigned count = 3;
  CHECK(list_processes(nvml, compute_v3, count, rows) == success);
  CHECK(count == 3);
  CHECK(rows[0].pid == 1);
  CHECK(rows[1].pid == 9);
  CHECK(rows[2].used == 9);
}

TEST_CASE("nvml_processes: a driver may reject every buffer as too small") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"processes": {"compute": {"rows": [{"pid": 1}],
      "always_insufficient": true, "fill_when_insufficient": true}}}]})");
  std::vector<ProcessV2> rows(100);
  unsigned count = 100;
  CHECK(list_processes(nvml, compute_v3, count, rows.data()) == error_insufficient_size);
  CHECK(count == 101);
  CHECK(rows[0].pid == 1);
}

TEST_CASE("nvml_processes: utilization samples are those newer than the last seen one") {
  const LoadedNvml nvml;
  nvml.start(R"({"devices": [{"process_utilization": [{"pid": 1, "time_us": 100, "sm": 250},
      {"pid": 2, "time_us": 200, "encoder": 3, "ofa": 4}]}, {"process_utilization": []}]})");
  const char* symbol = "nvmlDeviceGetProcessUtilization";
  auto* no_rows = static_cast<ProcessSample*>(nullptr);
  unsigned count = 0;
  CHECK(nvml(symbol, nvml.gpu(), no_rows, &count, 0ULL) == error_insufficient_size);
  CHECK(count == 2);
  ProcessSample rows[2] = {};
  CHECK(nvml(symbol, nvml.gpu(), &rows[0], &count, 0ULL) == success);
  CHECK(rows[0].sm == 250);
  CHECK(nvml(symbol, nvml.gpu(), &rows[0], &count, 100ULL) == success);
  CHECK(count == 1);
  CHECK(rows[0].pid == 2);
  CHECK(nvml(symbol, nvml.gpu(), &rows[0], &count, 200ULL) == error_not_found);
  CHECK(nvml(symbol, nvml.gpu(1), &rows[0], &count, 0ULL) == error_not_found);
  ProcessSampleV1 wide[2] = {};
  ProcessSampleList list{process_sample_list_version, 2, 100, &wide[0]};
  CHECK(nvml("nvmlDeviceGetProcessesUtilizationInfo", nvml.gpu(), &list) == success);
  CHECK(list.count == 1);
  CHECK(wide[0].ofa == 4);
}
