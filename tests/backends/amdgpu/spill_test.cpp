// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Spill detectors on kernel files.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "../sized.hpp"
#include "cards.hpp"

using namespace amdgpu_test;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr const char* slot = "0000:03:00.0";

// One card; its memory in use and its processes can be set.
class Computer {
 public:
  explicit Computer(hmn_fake::PciDevice card) {
    card.drm_nodes = {"renderD128"};
    hmn_fake::add_pci_device(tree_, card);
    hmn_fake::add_process(tree_, hmn_fake::simple_process(1, "init", 1, 100));
    hmn_fake::set_self(tree_, 1);
    auto options = sized<hmn_context_options>();
    options.flags = HMN_CONTEXT_NO_THREADS;
    options.deadline_ns = HMN_MILLISECONDS(60'000);
    options.rescan_ns = HMN_MILLISECONDS(1);
    REQUIRE(hmn_context_create(&options, &context_, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_SYS, tree_.sys().c_str(), nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_PROC, tree_.proc().c_str(), nullptr) == HMN_OK);
    const std::string none = tree_.path("none");
    REQUIRE(hmn_context_set_path(context_, HMN_PATH_NVML, none.c_str(), nullptr) == HMN_OK);
    REQUIRE(hmn_spill_create(context_, 0, nullptr, &spill_, nullptr) == HMN_OK);
  }
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;
  ~Computer() {
    hmn_spill_destroy(spill_);
    hmn_context_destroy(context_);
  }

  void set_used(std::uint64_t vram, std::uint64_t gtt) const {
    write_bytes("mem_info_vram_used", vram);
    write_bytes("mem_info_gtt_used", gtt);
  }
  void write_bytes(const std::string& file, std::uint64_t bytes) const {
    tree_.write("sys/" + hmn_fake::pci_folder(slot) + "/" + file, std::to_string(bytes) + "\n");
  }
  void add_process(unsigned pid, std::uint64_t vram, const std::string& evicted) {
    add_process(pid, pid, vram, evicted);
  }
  void add_process(unsigned pid, unsigned client, std::uint64_t vram, const std::string& evicted) {
    hmn_fake::Process process = hmn_fake::simple_process(pid, "train", 1000 + pid, 100);
    process.descriptors = {{3, "/dev/dri/renderD128"}};
    process.fdinfo = {{3, "drm-driver:\tamdgpu\ndrm-client-id:\t" + std::to_string(client) +
                              "\ndrm-pdev:\t" + slot + "\ndrm-memory-vram:\t" +
                              std::to_string(vram / 1024) +
                              " KiB\ndrm-memory-gtt: \t0 KiB\ndrm-shared-vram:\t0 KiB\n"
                              "drm-shared-gtt:\t0 KiB\n" +
                              evicted}};
    tree_.remove("proc/" + std::to_string(pid));
    hmn_fake::add_process(tree_, process);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Sets the memory of a process. Others use 8 GiB of the card; memory above its size is evicted to
  // GTT.
  void set_process_memory(std::uint64_t bytes) {
    const std::uint64_t resident = std::min(bytes, 8 * gib);
    add_process(42, resident,
                "amd-evicted-vram:\t" + std::to_string((bytes - resident) / 1024) +
                    " KiB\namd-requested-vram:\t" + std::to_string(bytes / 1024) + " KiB\n");
    set_used(8 * gib + resident, gib + bytes - resident);
  }
  hmn_spill_info observe() {
    auto error = sized<hmn_error>();
    status = hmn_spill_observe(spill_, "step", &error);
    auto info = sized<hmn_spill_info>();
    REQUIRE(hmn_spill_read(spill_, &info, nullptr) == HMN_OK);
    return info;
  }

  hmn_status status = HMN_OK;

 private:
  hmn_fake::Tree tree_;
  hmn_context* context_ = nullptr;
  hmn_spill* spill_ = nullptr;
};

}  // namespace

// The threshold: 16 GiB / 100 * 85 = 14602888735 bytes.
TEST_CASE("GTT that grows by 256 MiB while VRAM is full is spill") {
  Computer computer(navi(slot));
  const struct {
    std::uint64_t vram, gtt;
    hmn_flags rules;
  } steps[] = {{3 * gib, gib, 0},
               {3 * gib, 4 * gib, 0},
               {15 * gib, gib + 256 * mib - 1, 0},
               {15 * gib, gib + 256 * mib, HMN_SPILL_BY_SHARED},
               {14602888735, gib + 256 * mib, HMN_SPILL_BY_SHARED},
               {14602888734, gib + 256 * mib, 0}};
  for (const auto& step : steps) {
    computer.set_used(step.vram, step.gtt);
    const hmn_spill_info info = computer.observe();
    CAPTURE(step.vram);
    CAPTURE(step.gtt);
    CHECK(computer.status == HMN_OK);
    CHECK(info.backend == HMN_BACKEND_AMDGPU);
    CHECK(info.dedicated_bytes == step.vram);
    CHECK(info.shared_bytes == step.gtt);
    CHECK(info.limit_bytes == 16 * gib);
    CHECK(info.baseline_shared_bytes == gib);
    CHECK(info.rules == step.rules);
    CHECK((info.present & HMN_SPILL_INFO_HAS_EVICTED) == 0);  // no process reports it
  }
  CHECK(computer.observe().episode_count == 1);
}

TEST_CASE("memory reported as evicted is spill, added up over processes") {
  Computer computer(navi(slot));
  computer.add_process(42, 2 * gib,
                       "amd-evicted-vram:\t64 KiB\namd-requested-vram:\t2097216 KiB\n");
  hmn_spill_info info = computer.observe();
  CHECK(info.evicted_bytes == 64 << 10);
  CHECK(info.baseline_evicted_bytes == 64 << 10);
  CHECK(info.rules == 0);
  CHECK((info.notes & HMN_NOTE_LOWER_BOUND) == 0);
  computer.add_process(43, gib,
                       "amd-evicted-vram:\t262143 KiB\namd-requested-vram:\t1310719 KiB\n");
  info = computer.observe();
  CHECK(info.evicted_bytes == 256 * mib + (63 << 10));
  CHECK(info.rules == 0);
  computer.add_process(43, gib,
                       "amd-evicted-vram:\t262144 KiB\namd-requested-vram:\t1310720 KiB\n");
  info = computer.observe();
  CHECK(info.rules == HMN_SPILL_BY_EVICTED);
  CHECK(info.evicted_bytes == 256 * mib + (64 << 10));
  CHECK(info.peak_evicted_bytes == 256 * mib + (64 << 10));
}

TEST_CASE("evicted memory of a client shared by two processes counts once") {
  Computer computer(navi(slot));
  const std::string evicted = "amd-evicted-vram:\t131072 KiB\namd-requested-vram:\t1179648 KiB\n";
  CHECK(computer.observe().rules == 0);
  computer.add_process(42, 7, gib, evicted);
  computer.add_process(43, 7, gib, evicted);
  const hmn_spill_info info = computer.observe();
  CHECK(info.evicted_bytes == 128 * mib);
  CHECK(info.rules == 0);
}

TEST_CASE("a process that outgrows the card spills until it shrinks") {
  Computer computer(navi(slot));
  computer.set_process_memory(gib);
  computer.observe();
  for (std::uint64_t bytes = 2 * gib; bytes <= 12 * gib; bytes += gib) {
    computer.set_process_memory(bytes);
    const hmn_spill_info info = computer.observe();
    CAPTURE(bytes);
    CHECK(computer.status == HMN_OK);
    CHECK(info.dedicated_bytes == std::min(8 * gib + bytes, 16 * gib));
    CHECK(info.shared_bytes == gib + (bytes > 8 * gib ? bytes - 8 * gib : 0));
    const hmn_flags all_rules = HMN_SPILL_BY_SHARED | HMN_SPILL_BY_EVICTED;
    CHECK(info.rules == (bytes > 8 * gib ? all_rules : 0));
    CHECK(((info.state & HMN_SPILL_STATE_NOW) != 0) == (bytes > 8 * gib));
  }
  computer.set_process_memory(2 * gib);
  const hmn_spill_info info = computer.observe();
  CHECK((info.state & HMN_SPILL_STATE_NOW) == 0);
  CHECK((info.state & HMN_SPILL_STATE_EVER) != 0);
  CHECK(info.episode_count == 1);
  CHECK(info.peak_dedicated_bytes == 16 * gib);
  CHECK(info.peak_shared_bytes == 5 * gib);
  CHECK(info.peak_evicted_bytes == 4 * gib);
  CHECK(info.baseline_shared_bytes == gib);
}

TEST_CASE("if no process used the card at first, all evicted memory counts") {
  Computer computer(navi(slot));
  CHECK(computer.observe().rules == 0);
  computer.add_process(42, gib,
                       "amd-evicted-vram:\t262144 KiB\namd-requested-vram:\t1310720 KiB\n");
  const hmn_spill_info info = computer.observe();
  CHECK(info.baseline_evicted_bytes == 0);
  CHECK(info.rules == HMN_SPILL_BY_EVICTED);
}

TEST_CASE("on a kernel that does not report eviction, growth of GTT still reports spill") {
  Computer computer(navi(slot));
  computer.add_process(42, gib, "");
  hmn_spill_info info = computer.observe();
  CHECK((info.present & HMN_SPILL_INFO_HAS_EVICTED) == 0);
  CHECK((info.present & HMN_SPILL_INFO_HAS_PEAK_EVICTED) == 0);
  computer.set_used(15 * gib, 2 * gib);
  info = computer.observe();
  CHECK(info.rules == HMN_SPILL_BY_SHARED);
}

TEST_CASE("an APU has nothing to spill") {
  Computer computer(phoenix(slot));
  const hmn_spill_info info = computer.observe();
  CHECK(computer.status == HMN_E_UNSUPPORTED);
  CHECK(info.status == HMN_E_UNSUPPORTED);
  CHECK(std::string(info.message).find("host's RAM") != std::string::npos);
  CHECK(info.state == 0);
  CHECK((info.present & HMN_SPILL_INFO_HAS_OBSERVED) == 0);
}
