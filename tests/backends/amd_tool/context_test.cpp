// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Through the C interface: which of the two commands is started, and what is reported.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "hypomnesis.h"
#include "machine.hpp"

namespace {

constexpr const char* static_answer = R"j([{"gpu": 0, "asic": {"market_name": "AMD Radeon"},
  "bus": {"bdf": "0000:0b:00.0"}}])j";
constexpr const char* metric_answer = R"j([{"gpu": 0,
  "usage": {"gfx_activity": {"value": 31, "unit": "%"}},
  "mem_usage": {"total_vram": {"value": 16, "unit": "MB"},
                "used_vram": {"value": 5, "unit": "MB"}}}])j";
constexpr const char* rocm_answer = R"j({"card0": {"Card series": "AMD Radeon",
  "PCI Bus": "0000:0B:00.0", "VRAM Total Memory (B)": "4194304",
  "VRAM Total Used Memory (B)": "1024", "GPU use (%)": "N/A"}})j";

// Both commands together, over a tree with one card that no driver reports on.
class BothCommands {
 public:
  explicit BothCommands(hmn_flags flags = 0) {
    amd_.print("static", static_answer);
    amd_.print("metric", metric_answer);
    rocm_.print("", rocm_answer);
    hmn_context_options options{};
    options.struct_size = sizeof options;
    options.flags = flags;
    options.deadline_ns = HMN_MILLISECONDS(60'000);
    REQUIRE(hmn_context_create(&options, &context_, nullptr) == HMN_OK);
    set_path(HMN_PATH_SYS, amd_.tree().sys());
    set_path(HMN_PATH_AMD_SMI, amd_.path());
    set_path(HMN_PATH_ROCM_SMI, rocm_.path());
  }
  ~BothCommands() { hmn_context_destroy(context_); }
  BothCommands(const BothCommands&) = delete;
  BothCommands& operator=(const BothCommands&) = delete;

  [[nodiscard]] hmn_context* context() const { return context_; }
  [[nodiscard]] const amd_test::Machine& amd() const { return amd_; }
  [[nodiscard]] const amd_test::Machine& rocm() const { return rocm_; }

  [[nodiscard]] hmn_pool vram() const {
    hmn_pool pool{};
    pool.struct_size = sizeof pool;
    hmn_error error{};
    error.struct_size = sizeof error;
    const hmn_status status = hmn_pool_read(context_, 0, HMN_POOL_VRAM, 0, 0, &pool, &error);
    INFO(error.message);
    CHECK(status == HMN_OK);
    return pool;
  }

 private:
  void set_path(std::uint32_t kind, const std::string& path) const {
    REQUIRE(hmn_context_set_path(context_, kind, path.c_str(), nullptr) == HMN_OK);
  }

  amd_test::Machine amd_{"amd-smi"};
  amd_test::Machine rocm_{"rocm-smi"};
  hmn_context* context_ = nullptr;
};

}  // namespace

TEST_CASE("amd-smi is used, and rocm-smi is not started then") {
  const BothCommands commands;
  const hmn_pool pool = commands.vram();
  CHECK(pool.backend == HMN_BACKEND_AMD_SMI);
  CHECK(pool.total_bytes == UINT64_C(16) << 20);
  CHECK(pool.used_bytes == UINT64_C(5) << 20);
  CHECK(pool.free_bytes == UINT64_C(11) << 20);
  const hmn_fields fields = HMN_TELEMETRY_HAS_GPU_BUSY | HMN_TELEMETRY_HAS_POWER;
  hmn_telemetry telemetry{};
  telemetry.struct_size = sizeof telemetry;
  REQUIRE(hmn_telemetry_read(commands.context(), 0, fields, &telemetry, nullptr) == HMN_OK);
  CHECK((telemetry.present & HMN_TELEMETRY_HAS_GPU_BUSY) != 0);
  CHECK(telemetry.gpu_busy_percent == 31);
  CHECK((telemetry.present & HMN_TELEMETRY_HAS_POWER) == 0);
  CHECK(commands.rocm().starts().empty());
}

TEST_CASE("neither command is started for a card that amdgpu reports on") {
  const std::uint32_t amdgpu = HMN_BACKEND_AMDGPU;
  if (hmn_backend_available(amdgpu) == 0) return;
  const BothCommands commands;
  hmn_fake::PciDevice card = hmn_fake::amd_card(amd_test::card_address);
  card.drm_nodes = {"card0", "renderD128"};
  card.files = {{"mem_info_vram_total", "8388608\n"}, {"mem_info_vram_used", "2048\n"}};
  hmn_fake::add_pci_device(commands.amd().tree(), card);
  const hmn_pool pool = commands.vram();
  CHECK(pool.backend == HMN_BACKEND_AMDGPU);
  CHECK(pool.total_bytes == 8388608);
  CHECK(commands.amd().starts().empty());
  CHECK(commands.rocm().starts().empty());
}

TEST_CASE("rocm-smi is used if amd-smi fails") {
  const BothCommands commands;
  commands.amd().script("echo 'Error: broken' >&2; exit 1");
  const hmn_pool pool = commands.vram();
  CHECK(pool.backend == HMN_BACKEND_ROCM_SMI);
  CHECK(pool.total_bytes == 4194304);
  CHECK(pool.used_bytes == 1024);
}

TEST_CASE("a snapshot reports why a value is missing, with its key") {
  const BothCommands commands;
  commands.amd().script("exit 1");
  hmn_snapshot_options options{};
  options.struct_size = sizeof options;
  options.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_TELEMETRY;
  hmn_snapshot* snapshot = nullptr;
  REQUIRE(hmn_snapshot_take(commands.context(), &options, &snapshot, nullptr) == HMN_OK);
  hmn_snapshot_info info{};
  info.struct_size = sizeof info;
  REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
  bool has_key = false;
  bool has_exit = false;
  for (std::uint32_t i = 0; i < info.diagnostic_count; ++i) {
    hmn_diagnostic diagnostic{};
    diagnostic.struct_size = sizeof diagnostic;
    REQUIRE(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic, nullptr) == HMN_OK);
    has_key = has_key || std::string(diagnostic.message).find("\"GPU use (%)\" is \"N/A\"") !=
                             std::string::npos;
    has_exit =
        has_exit || (diagnostic.native_domain == HMN_NATIVE_EXIT && diagnostic.native_code == 1);
  }
  CHECK(has_key);
  CHECK(has_exit);
  hmn_snapshot_destroy(snapshot);
}

TEST_CASE("a context without subprocesses starts no program") {
  const BothCommands commands(HMN_CONTEXT_NO_SUBPROCESS);
  std::uint32_t count = 9;
  REQUIRE(hmn_device_scan(commands.context(), &count, nullptr, nullptr) == HMN_OK);
  CHECK(count == 0);
  CHECK(commands.amd().starts().empty());
  CHECK(commands.rocm().starts().empty());
}
