// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The same through the library's interface.
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

// A card, a part of a processor, and a process that uses the first.
class Computer {
 public:
  explicit Computer(std::uint32_t idle_close_ms = 0) {
    add(navi(), "renderD128");
    add(phoenix(), "renderD129");
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
    hmn_fake::Process p = hmn_fake::simple_process(pid, "train", 1000 + pid, 100);
    p.descriptors = {{3, node}};
    p.fdinfo = {{3, client_text(card, client, 2048, 512)}};
    hmn_fake::add_process(tree_, p);
  }
  // A process with two clients of the first card, which share 256 KiB of each pool, or not.
  void add_sharing_process(unsigned pid) {
    hmn_fake::Process p = hmn_fake::simple_process(pid, "browser", 1000 + pid, 100);
    for (const unsigned i : {0U, 1U}) {
      std::string text = client_text("0000:03:00.0", 10 * pid + i, 2048, 512);
      for (const char* pool : {"vram", "gtt"}) {
        const std::string line = std::string("drm-shared-") + pool + ":\t";
        text.replace(text.find(line + "0\n"), line.size() + 2, line + "256 KiB\n");
      }
      p.descriptors[static_cast<int>(3 + i)] = "/dev/dri/renderD128";
      p.fdinfo[static_cast<int>(3 + i)] = text;
    }
    hmn_fake::add_process(tree_, p);
  }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }
  [[nodiscard]] hmn_context* context() const { return context_; }
  hmn_snapshot_info take(hmn_flags collect) {
    auto options = sized<hmn_snapshot_options>();
    options.collect = collect;
    auto error = sized<hmn_error>();
    const hmn_status said = hmn_snapshot_take(context_, &options, &snapshot_, &error);
    INFO(error.message);
    REQUIRE(said == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
    return info;
  }
  // The main pool of a device.
  hmn_pool main_pool(std::uint32_t device, const hmn_snapshot_info& info) {
    auto p = sized<hmn_pool>();
    for (std::uint32_t i = 0; i < info.pool_count; ++i) {
      REQUIRE(hmn_snapshot_pool_at(snapshot_, i, &p, nullptr) == HMN_OK);
      if (p.device_index == device && p.is_main != 0) return p;
    }
    FAIL("no main pool");
    return p;
  }
  // The reason for the unattributed memory that a device lacks.
  std::string why_unattributed(std::uint32_t device) {
    auto d = sized<hmn_diagnostic>();
    REQUIRE(read_reason(snapshot_, device, HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED, &d) ==
            HMN_OK);
    return d.message;
  }
  hmn_usage usage(std::uint32_t i) {
    auto u = sized<hmn_usage>();
    REQUIRE(hmn_snapshot_usage_at(snapshot_, i, &u, nullptr) == HMN_OK);
    return u;
  }

 private:
  void add(hmn_fake::PciDevice d, const char* node) {
    d.drm_nodes = {node};
    hmn_fake::add_pci_device(tree_, d);
  }

  hmn_fake::Tree tree_;
  hmn_context* context_ = nullptr;
  hmn_snapshot* snapshot_ = nullptr;
};

hmn_backend_info backend(hmn_context* context, std::uint32_t number) {
  auto info = sized<hmn_backend_info>();
  REQUIRE(hmn_context_backend(context, number, &info, nullptr) == HMN_OK);
  return info;
}

}  // namespace

TEST_CASE("a card and a part of a processor in one snapshot") {
  Computer c;
  const auto info = c.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.device_count == 2);
  auto device = sized<hmn_device>();
  REQUIRE(hmn_device_read(c.context(), 0, 0, &device, nullptr) == HMN_OK);
  CHECK(std::string(device.architecture) == "gfx1101");
  REQUIRE(hmn_device_read(c.context(), 1, 0, &device, nullptr) == HMN_OK);
  CHECK((device.present & HMN_DEVICE_HAS_ARCHITECTURE) == 0);  // KFD does not list it
  const hmn_pool card = c.main_pool(0, info);
  CHECK(card.kind == HMN_POOL_VRAM);
  CHECK(card.backend == HMN_BACKEND_AMDGPU);
  CHECK(card.total_bytes == 16 * gib);
  CHECK(card.used_bytes == 3 * gib);
  REQUIRE(info.usage_count == 1);
  const hmn_usage row = c.usage(0);
  CHECK(row.pid == 42);
  CHECK(row.backend == HMN_BACKEND_AMDGPU);
  CHECK(row.used_bytes == 2048 << 10);
  CHECK((card.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(card.unattributed_bytes == 3 * gib - (2048 << 10));
  const hmn_pool part = c.main_pool(1, info);
  CHECK(part.kind == HMN_POOL_HOST);
  CHECK(part.total_bytes == 30 * gib);
  CHECK(part.used_bytes == 2 * gib);
  CHECK(part.unattributed_bytes == 2 * gib);
  CHECK(backend(c.context(), HMN_BACKEND_AMDGPU).state == HMN_RUN_STATE_READY);
}

TEST_CASE("of a process that uses both pools each is taken from its own") {
  Computer c;
  c.add_process(43, 8, "0000:64:00.0", "/dev/dri/renderD129");
  const auto info = c.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 2);
  CHECK(c.usage(1).used_bytes == (2048 + 512) << 10);
  CHECK(c.usage(1).host_pool_bytes == 512 << 10);
  const hmn_pool part = c.main_pool(1, info);
  CHECK(part.kind == HMN_POOL_HOST);
  CHECK((part.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(part.unattributed_bytes == 2 * gib - (512 << 10));
}

TEST_CASE("a client of several processes counts once in what is attributed") {
  Computer c;
  c.add_process(43, 7);
  c.add_process(44, 7);
  c.add_process(45, 8);
  c.add_process(46, 8);
  c.add_process(47, 9);
  const auto info = c.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 6);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(c.usage(i).used_bytes == 2048 << 10);
  CHECK(c.usage(0).shared_bytes == 2048 << 10);
  CHECK(c.usage(5).shared_bytes == 0);
  const hmn_pool card = c.main_pool(0, info);
  CHECK((card.present & HMN_POOL_HAS_UNATTRIBUTED) != 0);
  CHECK(card.unattributed_bytes == 3 * gib - 3 * (2048 << 10));
}

TEST_CASE("clients of one process may share: its memory is a bound, and so is what is left") {
  Computer c;
  c.add_sharing_process(43);
  const auto info = c.take(HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 2);
  const hmn_usage row = c.usage(1);
  CHECK(row.used_bytes == (2 * 1792 + 256) << 10);
  CHECK(row.host_pool_bytes == (2 * 256 + 256) << 10);
  CHECK((row.notes & HMN_NOTE_LOWER_BOUND) != 0);
  CHECK((c.usage(0).notes & HMN_NOTE_LOWER_BOUND) == 0);
  CHECK((c.main_pool(0, info).present & HMN_POOL_HAS_UNATTRIBUTED) == 0);
  const std::string least = std::to_string(3 * gib - (3 * 2048 << 10));
  const std::string most = std::to_string(3 * gib - ((2048 + 2 * 1792 + 256) << 10));
  CHECK(c.why_unattributed(0).find(least + " to " + most + " bytes") != std::string::npos);
  auto one = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(c.context(), 0, 43, 0, &one, nullptr) == HMN_OK);
  CHECK(one.used_bytes == row.used_bytes);
  CHECK((one.notes & HMN_NOTE_LOWER_BOUND) != 0);
}

TEST_CASE("a compute process, and how KFD fares") {
  Computer c;
  set_kfd_vram(c.tree(), 42, gpu_id, gib);
  const auto info = c.take(HMN_COLLECT_PROCESSES);
  REQUIRE(info.usage_count == 1);
  const hmn_usage row = c.usage(0);
  CHECK(row.backend == HMN_BACKEND_KFD);
  CHECK(row.used_bytes == gib);
  CHECK(row.accounting == HMN_ACCOUNT_COMMITTED);
  CHECK((row.kinds & HMN_USAGE_KIND_COMPUTE) != 0);
  CHECK((row.notes & HMN_NOTE_MIXED) != 0);
  CHECK(backend(c.context(), HMN_BACKEND_KFD).state == HMN_RUN_STATE_READY);
  auto one = sized<hmn_usage>();
  REQUIRE(hmn_usage_read(c.context(), 0, 42, 0, &one, nullptr) == HMN_OK);
  CHECK(one.used_bytes == gib);
  CHECK(one.backend == HMN_BACKEND_KFD);
}

TEST_CASE("telemetry and a metric") {
  Computer c;
  REQUIRE(c.take(HMN_COLLECT_DEVICES).device_count == 2);
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(c.context(), 0, 0, &t, nullptr) == HMN_OK);
  CHECK(t.backend == HMN_BACKEND_AMDGPU);
  CHECK(t.hotspot_celsius == 59);
  CHECK(t.power_watts == 36.5);
  auto m = sized<hmn_metric>();
  REQUIRE(read_metric(c.context(), 0, HMN_METRIC_PCIE_REPLAYS, 0, &m, nullptr) == HMN_OK);
  CHECK(m.count == 7);
  // Only a slow reading has it, and is made when it is asked for.
  REQUIRE(read_metric(c.context(), 0, HMN_METRIC_ECC_CORRECTED, HMN_ERA_SINCE_LOAD, &m, nullptr) ==
          HMN_OK);
  CHECK(m.count == 23);
}

TEST_CASE("figures of a card that is left alone are those from before, and say so") {
  Computer c(1);
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");
  c.tree().write(folder + "/gpu_busy_percent", "0\n");
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(c.context(), 0, 0, &t, nullptr) == HMN_OK);
  CHECK((t.notes & HMN_NOTE_STALE) == 0);
  const double temperature = t.temperature_celsius;
  REQUIRE((t.present & HMN_TELEMETRY_HAS_TEMPERATURE) != 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  REQUIRE(hmn_telemetry_read(c.context(), 0, 0, &t, nullptr) == HMN_OK);  // at its end it is seen
  c.tree().write(folder + "/hwmon/hwmon4/temp1_input", "99000\n");
  REQUIRE(hmn_telemetry_read(c.context(), 0, 0, &t, nullptr) == HMN_OK);
  CHECK((t.notes & HMN_NOTE_STALE) != 0);
  CHECK(t.temperature_celsius == doctest::Approx(temperature));
  auto p = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(c.context(), 0, HMN_POOL_MAIN, 0, 0, &p, nullptr) == HMN_OK);
  CHECK((p.notes & HMN_NOTE_STALE) == 0);
}
