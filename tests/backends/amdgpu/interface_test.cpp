// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Cards of amdgpu through the C interface.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "../sized.hpp"
#include "abi/support/keys.h"
#include "cards.hpp"

using namespace amdgpu_test;

namespace {

constexpr std::uint32_t gpu_id = 57300;

// A card, an APU, and a process that uses the card.
class Computer {
 public:
  explicit Computer(std::uint32_t idle_close_ms = 0) {
    add_card(navi(), "renderD128");
    add_card(phoenix(), "renderD129");
    add_process(42, 7);
    hmn_fake::set_pid_namespace(tree_, 42, 4026531836);
    hmn_fake::set_self(tree_, 42);
    set_kfd_generation(tree_, 1);
    add_kfd_node(tree_, {.gpu_id = gpu_id, .location = 0x300, .memory = 16 * gib});
    auto options = sized<hmn_context_options>();
    options.flags = HMN_CONTEXT_NO_THREADS;
    options.deadline_ns = HMN_MILLISECONDS(60'000);
    options.idle_close_ns = HMN_MILLISECONDS(idle_close_ms);
    REQUIRE(hmn_context_create(&options, &context_, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_SYS, tree_.sys().c_str(), nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_PROC, tree_.proc().c_str(), nullptr) == HMN_OK);
    const std::string none = tree_.path("none");
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVML, none.c_str(), nullptr) == HMN_OK);
  }
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;
  ~Computer() {
    hmn_snapshot_destroy(snapshot_);
    hmn_context_destroy(context_);
  }

  // A process with one client of a card, the first by default.
  void add_process(unsigned pid, unsigned client, const char* card = "0000:03:00.0",
                   const char* node = "/dev/dri/renderD128") {
    hmn_fake::Process process = hmn_fake::simple_process(pid, "train", 1000 + pid, 100);
    process.descriptors = {{3, node}};
    process.fdinfo = {{3, client_text(card, client, 2048, 512)}};
    hmn_fake::add_process(tree_, process);
  }
  // A process with two clients of the first card, which share 256 KiB of each pool, or not.
  void add_sharing_process(unsigned pid) {
    hmn_fake::Process process = hmn_fake::simple_process(pid, "browser", 1000 + pid, 100);
    for (const unsigned i : {0U, 1U}) {
      std::string text = client_text("0000:03:00.0", 10 * pid + i, 2048, 512);
      for (const char* pool : {"vram", "gtt"}) {
        const std::string line = std::string("drm-shared-") + pool + ":\t";
        text.replace(text.find(line + "0\n"), line.size() + 2, line + "256 KiB\n");
      }
      process.descriptors[static_cast<int>(3 + i)] = "/dev/dri/renderD128";
      process.fdinfo[static_cast<int>(3 + i)] = text;
    }
    hmn_fake::add_process(tree_, process);
  }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  [[nodiscard]] hmn_context* context() const { return context_; }
  hmn_snapshot_info take(hmn_flags collect) {
    auto options = sized<hmn_snapshot_options>();
    options.collect = collect;
    auto error = sized<hmn_error>();
    const hmn_status status = hmn_snapshot_take(context_, &options, &snapshot_, &error);
    INFO(error.message);
    REQUIRE(status == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
    return info;
  }
  // Returns the main pool of a device.
  hmn_pool main_pool(std::uint32_t device, const hmn_snapshot_info& info) {
    auto pool = sized<hmn_pool>();
    for (std::uint32_t i = 0; i < info.pool_count; ++i) {
      REQUIRE(hmn_snapshot_pool_at(snapshot_, i, &pool, nullptr) == HMN_OK);
      if (pool.device_index == device && pool.is_main != 0) return pool;
    }
    FAIL("no main pool");
    return pool;
  }
  // Returns the reason why a device has no unattributed memory.
  std::string unattributed_reason(std::uint32_t device) {
    auto diagnostic = sized<hmn_diagnostic>();
    REQUIRE(read_reason(snapshot_, device, HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED,
                        &diagnostic) == HMN_OK);
    return diagnostic.message;
  }
  hmn_usage usage(std::uint32_t i) {
    auto usage = sized<hmn_usage>();
    REQUIRE(hmn_snapshot_usage_at(snapshot_, i, &usage, nullptr) == HMN_OK);
    return usage;
  }

 private:
  void add_card(hmn_fake::PciDevice card, const char* node) {
    card.drm_nodes = {node};
    hmn_fake::add_pci_device(tree_, card);
  }

  hmn_fake::Tree tree_;
  hmn_context* context_ = nullptr;
  hmn_snapshot* snapshot_ = nullptr;
};

hmn_backend_info read_backend(hmn_context* context, std::uint32_t number) {
  auto info = sized<hmn_backend_info>();
  REQUIRE(hmn_context_backend(context, number, &info, nullptr) == HMN_OK);
  return info;
}

}  // namespace

TEST_CASE("a card and an APU are in one snapshot") {
  Computer computer;
  const auto info = computer.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.device_count == 2);
  auto device = sized<hmn_device>();
  REQUIRE(hmn_device_read(computer.context(), 0, 0, &device, nullptr) == HMN_OK);
  CHECK(std::string(device.architecture) == "gfx1101");
  REQUIRE(hmn_device_read(computer.context(), 1, 0, &device, nullptr) == HMN_OK);
  CHECK((device.present & HMN_DEVICE_HAS_ARCHITECTURE) == 0);  // KFD does not list it
  const hmn_pool card_pool = computer.main_pool(0, info);
  CHECK(card_pool.kind == HMN_POOL_VRAM);
  CHECK(card_pool.backend == HMN_BACKEND_AMDGPU);
  CHECK(card_pool.total_bytes == 16 * gib);
  CHECK(card_pool.used_bytes == 3 * gib);
  REQUIRE(info.usage_count == 1);
  const hmn_usage row = computer.usage(0);
  CHECK(row.pid == 42);
  CHECK(row.backend == HMN_BACKEND_AMDGPU);
  CHECK(row.used_bytes == 2048 << 10);
  CHECK((card_pool.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(card_pool.unattributed_bytes == 3 * gib - (2048 << 10));
  const hmn_pool apu_pool = computer.main_pool(1, info);
  CHECK(apu_pool.kind == HMN_POOL_HOST);
  CHECK(apu_pool.total_bytes == 30 * gib);
  CHECK(apu_pool.used_bytes == 2 * gib);
  CHECK(apu_pool.unattributed_bytes == 2 * gib);
  CHECK(read_backend(computer.context(), HMN_BACKEND_AMDGPU).state == HMN_RUN_STATE_READY);
}

TEST_CASE("unattributed memory of an APU subtracts the GTT of a process, not its VRAM") {
  Computer computer;
  computer.add_process(43, 8, "0000:64:00.0", "/dev/dri/renderD129");
  const auto info = computer.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 2);
  CHECK(computer.usage(1).used_bytes == (2048 + 512) << 10);
  CHECK(computer.usage(1).host_pool_bytes == 512 << 10);
  const hmn_pool apu_pool = computer.main_pool(1, info);
  CHECK(apu_pool.kind == HMN_POOL_HOST);
  CHECK((apu_pool.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(apu_pool.unattributed_bytes == 2 * gib - (512 << 10));
}

TEST_CASE("a client shared by several processes counts once in attributed memory") {
  Computer computer;
  computer.add_process(43, 7);
  computer.add_process(44, 7);
  computer.add_process(45, 8);
  computer.add_process(46, 8);
  computer.add_process(47, 9);
  const auto info = computer.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 6);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(computer.usage(i).used_bytes == 2048 << 10);
  CHECK(computer.usage(0).shared_bytes == 2048 << 10);
  CHECK(computer.usage(5).shared_bytes == 0);
  const hmn_pool card_pool = computer.main_pool(0, info);
  CHECK((card_pool.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(card_pool.unattributed_bytes == 3 * gib - 3 * (2048 << 10));
}

TEST_CASE("a process whose clients may share memory has bounds, and so has unattributed memory") {
  Computer computer;
  computer.add_sharing_process(43);
  const auto info = computer.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 2);
  const hmn_usage row = computer.usage(1);
  CHECK(row.used_bytes == (2 * 1792 + 256) << 10);
  CHECK(row.host_pool_bytes == (2 * 256 + 256) << 10);
  CHECK((row.notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK((computer.usage(0).notes & HMN_NOTE_LOWER_BOUND) == 0);
  CHECK((computer.main_pool(0, info).present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  const std::string min_bytes = std::to_string(3 * gib - (3 * 2048 << 10));
  const std::string max_bytes = std::to_string(3 * gib - ((2048 + 2 * 1792 + 256) << 10));
  CHECK(computer.unattributed_reason(0).find(min_bytes + " to " + max_bytes + " bytes") !=
        std::string::npos);
  auto direct = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(computer.context(), 0, 43, 0, &direct, nullptr) == HMN_OK);
  CHECK(direct.used_bytes == row.used_bytes);
  CHECK((direct.notes & HMN_NOTE_LOWER_BOUND) != 0);
}

TEST_CASE("a compute process is reported by KFD, whose state is ready") {
  Computer computer;
  set_kfd_vram(computer.tree(), 42, gpu_id, gib);
  const auto info = computer.take(HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 1);
  const hmn_usage row = computer.usage(0);
  CHECK(row.backend == HMN_BACKEND_KFD);
  CHECK(row.used_bytes == gib);
  CHECK(row.accounting == HMN_ACCOUNT_COMMITTED);
  CHECK((row.kinds & HMN_USAGE_KIND_COMPUTE) != 0);
  CHECK((row.notes & HMN_NOTE_MIXED) != 0);
  CHECK(read_backend(computer.context(), HMN_BACKEND_KFD).state == HMN_RUN_STATE_READY);
  auto direct = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(computer.context(), 0, 42, 0, &direct, nullptr) == HMN_OK);
  CHECK(direct.used_bytes == gib);
  CHECK(direct.backend == HMN_BACKEND_KFD);
}

TEST_CASE("telemetry and metrics of a card are read") {
  Computer computer;
  REQUIRE(computer.take(HMN_COLLECT_DEVICES).device_count == 2);
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(computer.context(), 0, 0, &telemetry, nullptr) == HMN_OK);
  CHECK(telemetry.backend == HMN_BACKEND_AMDGPU);
  CHECK(telemetry.hotspot_celsius == 59);
  CHECK(telemetry.power_watts == 36.5);
  auto metric = sized<hmn_metric>();
  REQUIRE(read_metric(computer.context(), 0, HMN_METRIC_PCIE_REPLAYS, 0, &metric, nullptr) ==
          HMN_OK);
  CHECK(metric.count == 7);
  // Only a slow reading has it; asking for this metric makes one.
  REQUIRE(read_metric(computer.context(), 0, HMN_METRIC_ECC_CORRECTED, HMN_ERA_SINCE_LOAD, &metric,
                      nullptr) == HMN_OK);
  CHECK(metric.count == 23);
}

TEST_CASE("values of a card that is left alone are the previous ones, marked as stale") {
  Computer computer(1);
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");
  computer.tree().write(folder + "/gpu_busy_percent", "0\n");
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(computer.context(), 0, 0, &telemetry, nullptr) == HMN_OK);
  CHECK((telemetry.notes & HMN_NOTE_STALE) == 0);
  const double temperature = telemetry.temperature_celsius;
  REQUIRE((telemetry.present & HMN_TELEMETRY_HAS_TEMPERATURE) != 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  REQUIRE(hmn_telemetry_read(computer.context(), 0, 0, &telemetry, nullptr) ==
          HMN_OK);  // finds it idle
  computer.tree().write(folder + "/hwmon/hwmon4/temp1_input", "99000\n");
  REQUIRE(hmn_telemetry_read(computer.context(), 0, 0, &telemetry, nullptr) == HMN_OK);
  CHECK((telemetry.notes & HMN_NOTE_STALE) != 0);
  CHECK(telemetry.temperature_celsius == doctest::Approx(temperature));
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(computer.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
}
