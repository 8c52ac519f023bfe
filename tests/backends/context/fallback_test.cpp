// SPDX-License-Identifier: MIT OR Apache-2.0
//
// nvidia-smi serves every call when NVML cannot.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "machine.hpp"

namespace {

constexpr const char* one_card = R"({"gpus": [{"fields": {
  "name": "NVIDIA L40S", "uuid": "GPU-11111111-2222-3333-4444-555555555555",
  "pci.bus_id": "00000000:01:00.0", "driver_version": "595.80",
  "memory.total": 46068, "memory.used": 9123, "memory.free": 36346, "memory.reserved": 599,
  "temperature.gpu": 45},
  "compute_apps": [{"pid": 20037, "process_name": "/usr/bin/ffmpeg", "used_gpu_memory": 538}]}]})";

// The fake executable in a folder of its own.
class tool {
 public:
  explicit tool(const machine& m, const std::string& scenario = one_card)
      : folder_(m.tree().path("tool")) {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, path());
    std::ofstream(folder_ / "nvidia-smi.json") << scenario;
    REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_NVIDIA_SMI, path().c_str(), nullptr) ==
            HMN_OK);
  }
  [[nodiscard]] int starts() const {
    std::ifstream log(folder_ / "nvidia-smi.log");
    int lines = 0;
    for (std::string line; std::getline(log, line);) ++lines;
    return lines;
  }

 private:
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "nvidia-smi"; }
  std::filesystem::path folder_;
};

constexpr std::uint64_t mib = 1 << 20;

}  // namespace

TEST_CASE("without NVML the tool gives count, devices, memory and processes") {
  const machine m({}, false);
  const tool smi(m);
  std::uint32_t count = 0;
  auto error = sized<hmn_error>();
  REQUIRE(hmn_device_count(m.context(), &count, &error) == HMN_OK);
  CHECK(count == 1);
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &pool, &error) == HMN_OK);
  CHECK(pool.backend == HMN_BACKEND_NVIDIA_SMI);
  CHECK(pool.total_bytes == 46068 * mib);
  CHECK(pool.used_bytes == 9123 * mib);
  CHECK(pool.reserved_bytes == 599 * mib);
  const taken_snapshot p(m.context(), HMN_COLLECT_PROCESSES);
  REQUIRE(p.info().usage_count == 1);
  CHECK(p.usages()[0].pid == 20037);
  CHECK(p.usages()[0].used_bytes == 538 * mib);
}

TEST_CASE("a reading starts one process for all devices, and one more for the process list") {
  const machine m({}, false);
  const tool smi(m);
  { const taken_snapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY); }
  CHECK(smi.starts() == 1);
  { const taken_snapshot p(m.context(), HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES); }
  CHECK(smi.starts() == 3);
}

TEST_CASE("while NVML serves, and when subprocesses are forbidden, the tool is not started") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  SUBCASE("NVML serves") {
    const machine m;
    const tool smi(m);
    const taken_snapshot p(m.context(), HMN_COLLECT_PROCESSES);
    CHECK(p.device(0).backend == HMN_BACKEND_NVML);
    CHECK(smi.starts() == 0);
  }
  SUBCASE("forbidden") {
    const machine m({.flags = HMN_CONTEXT_NO_SUBPROCESS}, false);
    const tool smi(m);
    const taken_snapshot p(m.context());
    CHECK(p.info().device_count == 0);
    CHECK(smi.starts() == 0);
  }
}

TEST_CASE("a card keeps its index when NVML comes back") {
  const fake_nvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "result": 9}])"));
  const machine m;
  const tool smi(m);
  {
    const taken_snapshot p(m.context());
    REQUIRE(p.info().device_count == 1);
    CHECK(p.device(0).backend == HMN_BACKEND_NVIDIA_SMI);
    const auto why = p.diagnostics();
    REQUIRE(!why.empty());
    CHECK(why[0].backend == HMN_BACKEND_NVML);
    CHECK(why[0].native_code == 9);
  }
  nvml.load(one_gpu());
  CHECK(comes_true([&] {
    const taken_snapshot p(m.context());
    REQUIRE(p.info().device_count == 1);
    CHECK(p.device(0).index == 0);
    return p.device(0).backend == HMN_BACKEND_NVML;
  }));
}
