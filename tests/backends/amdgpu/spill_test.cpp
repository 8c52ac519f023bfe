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

// One card; what it and its process use can be set.
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

  void use(std::uint64_t vram, std::uint64_t gtt) const {
    set("mem_info_vram_used", vram);
    set("mem_info_gtt_used", gtt);
  }
  void set(const std::string& file, std::uint64_t bytes) const {
    tree_.write("sys/" + hmn_fake::pci_folder(slot) + "/" + file, std::to_string(bytes) + "\n");
  }
  void run(unsigned pid, std::uint64_t vram, const std::string& evicted) {
    run(pid, pid, vram, evicted);
  }
  void run(unsigned pid, unsigned client, std::uint64_t vram, const std::string& evicted) {
    hmn_fake::Process p = hmn_fake::simple_process(pid, "train", 1000 + pid, 100);
    p.descriptors = {{3, "/dev/dri/renderD128"}};
    p.fdinfo = {{3, "drm-driver:\tamdgpu\ndrm-client-id:\t" + std::to_string(client) +
                        "\ndrm-pdev:\t" + slot + "\ndrm-memory-vram:\t" +
                        std::to_string(vram / 1024) +
                        " KiB\ndrm-memory-gtt: \t0 KiB\ndrm-shared-vram:\t0 KiB\n"
                        "drm-shared-gtt:\t0 KiB\n" +
                        evicted}};
    tree_.remove("proc/" + std::to_string(pid));
    hmn_fake::add_process(tree_, p);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // A process holds memory of the card, of which others have 8 GiB; what exceeds it is moved to
  // GTT.
  void hold(std::uint64_t bytes) {
    const std::uint64_t resident = std::min(bytes, 8 * gib);
    run(42, resident,
        "amd-evicted-vram:\t" + std::to_string((bytes - resident) / 1024) +
            " KiB\namd-requested-vram:\t" + std::to_string(bytes / 1024) + " KiB\n");
    use(8 * gib + resident, gib + bytes - resident);
  }
  hmn_spill_info observe() {
    auto error = sized<hmn_error>();
    said = hmn_spill_observe(spill_, "step", &error);
    auto info = sized<hmn_spill_info>();
    REQUIRE(hmn_spill_read(spill_, &info, nullptr) == HMN_OK);
    return info;
  }

  hmn_status said = HMN_OK;

 private:
  hmn_fake::Tree tree_;
  hmn_context* context_ = nullptr;
  hmn_spill* spill_ = nullptr;
};

}  // namespace

// The threshold: 16 GiB / 100 * 85 = 14602888735 bytes.
TEST_CASE("GTT that grows by 256 MiB beside full VRAM is spill") {
  Computer c(navi(slot));
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
    c.use(step.vram, step.gtt);
    const hmn_spill_info info = c.observe();
    CAPTURE(step.vram);
    CAPTURE(step.gtt);
    CHECK(c.said == HMN_OK);
    CHECK(info.backend == HMN_BACKEND_AMDGPU);
    CHECK(info.dedicated_bytes == step.vram);
    CHECK(info.shared_bytes == step.gtt);
    CHECK(info.limit_bytes == 16 * gib);
    CHECK(info.baseline_shared_bytes == gib);
    CHECK(info.rules == step.rules);
    CHECK((info.present & HMN_SPILL_INFO_HAS_EVICTED) == 0);  // no process is there to report it
  }
  CHECK(c.observe().episode_count == 1);
}

TEST_CASE("what the driver says it evicted is spill, added up over processes") {
  Computer c(navi(slot));
  c.run(42, 2 * gib, "amd-evicted-vram:\t64 KiB\namd-requested-vram:\t2097216 KiB\n");
  hmn_spill_info info = c.observe();
  CHECK(info.evicted_bytes == 64 << 10);
  CHECK(info.baseline_evicted_bytes == 64 << 10);
  CHECK(info.rules == 0);
  CHECK((info.notes & HMN_NOTE_LOWER_BOUND) == 0);
  c.run(43, gib, "amd-evicted-vram:\t262143 KiB\namd-requested-vram:\t1310719 KiB\n");
  info = c.observe();
  CHECK(info.evicted_bytes == 256 * mib + (63 << 10));
  CHECK(info.rules == 0);
  c.run(43, gib, "amd-evicted-vram:\t262144 KiB\namd-requested-vram:\t1310720 KiB\n");
  info = c.observe();
  CHECK(info.rules == HMN_SPILL_BY_EVICTED);
  CHECK(info.evicted_bytes == 256 * mib + (64 << 10));
  CHECK(info.peak_evicted_bytes == 256 * mib + (64 << 10));
}

TEST_CASE("a client of two processes is evicted once") {
  Computer c(navi(slot));
  const std::string evicted = "amd-evicted-vram:\t131072 KiB\namd-requested-vram:\t1179648 KiB\n";
  CHECK(c.observe().rules == 0);
  c.run(42, 7, gib, evicted);
  c.run(43, 7, gib, evicted);
  const hmn_spill_info info = c.observe();
  CHECK(info.evicted_bytes == 128 * mib);
  CHECK(info.rules == 0);
}

TEST_CASE("a process that outgrows the card spills until it shrinks") {
  Computer c(navi(slot));
  c.hold(gib);
  c.observe();
  for (std::uint64_t held = 2 * gib; held <= 12 * gib; held += gib) {
    c.hold(held);
    const hmn_spill_info info = c.observe();
    CAPTURE(held);
    CHECK(c.said == HMN_OK);
    CHECK(info.dedicated_bytes == std::min(8 * gib + held, 16 * gib));
    CHECK(info.shared_bytes == gib + (held > 8 * gib ? held - 8 * gib : 0));
    const hmn_flags both = HMN_SPILL_BY_SHARED | HMN_SPILL_BY_EVICTED;
    CHECK(info.rules == (held > 8 * gib ? both : 0));
    CHECK(((info.state & HMN_SPILL_STATE_NOW) != 0) == (held > 8 * gib));
  }
  c.hold(2 * gib);
  const hmn_spill_info info = c.observe();
  CHECK((info.state & HMN_SPILL_STATE_NOW) == 0);
  CHECK((info.state & HMN_SPILL_STATE_EVER) != 0);
  CHECK(info.episode_count == 1);
  CHECK(info.peak_dedicated_bytes == 16 * gib);
  CHECK(info.peak_shared_bytes == 5 * gib);
  CHECK(info.peak_evicted_bytes == 4 * gib);
  CHECK(info.baseline_shared_bytes == gib);
}

TEST_CASE("all that is evicted counts where nobody used the card at first") {
  Computer c(navi(slot));
  CHECK(c.observe().rules == 0);
  c.run(42, gib, "amd-evicted-vram:\t262144 KiB\namd-requested-vram:\t1310720 KiB\n");
  const hmn_spill_info info = c.observe();
  CHECK(info.baseline_evicted_bytes == 0);
  CHECK(info.rules == HMN_SPILL_BY_EVICTED);
}

TEST_CASE("a kernel that tells no eviction leaves it unknown, and GTT tells still") {
  Computer c(navi(slot));
  c.run(42, gib, "");
  hmn_spill_info info = c.observe();
  CHECK((info.present & HMN_SPILL_INFO_HAS_EVICTED) == 0);
  CHECK((info.present & HMN_SPILL_INFO_HAS_PEAK_EVICTED) == 0);
  c.use(15 * gib, 2 * gib);
  info = c.observe();
  CHECK(info.rules == HMN_SPILL_BY_SHARED);
}

TEST_CASE("a part of a processor has nothing to spill") {
  Computer c(phoenix(slot));
  const hmn_spill_info info = c.observe();
  CHECK(c.said == HMN_E_UNSUPPORTED);
  CHECK(info.status == HMN_E_UNSUPPORTED);
  CHECK(std::string(info.message).find("host's RAM") != std::string::npos);
  CHECK(info.state == 0);
  CHECK((info.present & HMN_SPILL_INFO_HAS_OBSERVED) == 0);
}
