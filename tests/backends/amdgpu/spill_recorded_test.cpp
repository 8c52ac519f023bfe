// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The spill detector on recorded folders of cards and on a recorded client.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cards.hpp"
#include "core/spill.hpp"
#include "machine.hpp"
#include "recorded_card.hpp"

using namespace hmn;
using drm_test::Machine;
using recorded::Entry;

namespace {

std::shared_ptr<Context> make_context(const Machine& machine) {
  Settings settings = machine.settings();
  settings.no_threads = true;
  settings.no_subprocess = true;
  Limits limits;
  limits.deadline_ns = 60 * platform::ns_per_second;
  return std::make_shared<Context>(settings, limits);
}

}  // namespace

TEST_CASE("the spill detector reports the recorded values of a card, or why it has none") {
  int report_count = 0;
  int apu_count = 0;
  for (const Entry& entry : recorded::find_all("amdgpu-sysfs/lact-")) {
    CAPTURE(entry.file);
    Machine machine(false, false);
    machine.tree().link("sys/class/drm/renderD128/device", find_card_folder(entry));
    Spill detector(make_context(machine), 0, {});
    const bool is_observed = static_cast<bool>(detector.observe("recorded"));
    const SpillReport report = detector.report();
    // The two processors are named as such in the index.
    if (entry.file.find("phoenix") != std::string::npos ||
        entry.file.find("strixpoint") != std::string::npos) {
      CHECK_FALSE(is_observed);
      CHECK(report.failure.code == Status::unsupported);
      CHECK(drm_test::mentions(report.failure, "host's RAM"));
      ++apu_count;
      continue;
    }
    REQUIRE(is_observed == (entry.has("vram_used_bytes") && entry.has("gtt_used_bytes")));
    CHECK(report.totals.observations == (is_observed ? 1 : 0));
    if (!is_observed) continue;
    CHECK(report.totals.last.source == Source::amdgpu);
    CHECK(report.totals.last.dedicated == entry.number("vram_used_bytes"));
    CHECK(report.totals.last.shared == entry.number("gtt_used_bytes"));
    CHECK(report.totals.limit == entry.number("vram_total_bytes"));
    CHECK(report.totals.rules == 0);
    ++report_count;
  }
  CHECK(apu_count == 2);
  CHECK(report_count == 3);
}

TEST_CASE("a recorded client reports no evicted memory, and then evicted memory") {
  const Entry entry = recorded::find_one("drm-fdinfo/amdgpu-2024-drm-total.txt");
  const std::string address = entry.expected.at("pdev").get<std::string>();
  std::string text = entry.text();
  Machine machine(false, false);
  machine.add_pci(amdgpu_test::navi(address.c_str()), {drm_test::render128});
  machine.add_process(42, {{3, "/dev/dri/renderD128", text}});
  Spill detector(make_context(machine), 0, {});
  REQUIRE(detector.observe("recorded"));
  SpillTotals totals = detector.report().totals;
  CHECK(totals.last.evicted ==
        entry.expected.at("memory_bytes").at("amd-evicted-vram").get<unsigned>());
  CHECK(totals.baseline_evicted == 0U);
  CHECK(totals.rules == 0);

  constexpr std::string_view no_eviction = "amd-evicted-vram:\t0 KiB";
  const std::size_t position = text.find(no_eviction);
  REQUIRE(position != text.npos);
  text.replace(position, no_eviction.size(), "amd-evicted-vram:\t262144 KiB");
  machine.tree().write("proc/42/fdinfo/3", text);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(detector.observe("changed"));
  totals = detector.report().totals;
  CHECK(totals.last.evicted == std::uint64_t{256} << 20);
  CHECK(totals.rules == spill_rule::evicted);
  CHECK(totals.episodes == 1);
}
