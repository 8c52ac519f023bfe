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

std::shared_ptr<Context> context_of(const Machine& m) {
  Settings s = m.settings();
  s.no_threads = true;
  s.no_subprocess = true;
  Limits l;
  l.deadline_ns = 60 * platform::ns_per_second;
  return std::make_shared<Context>(s, l);
}

}  // namespace

TEST_CASE("of recorded cards the detector tells what their files say, or why nothing") {
  int reported = 0;
  int processors = 0;
  for (const Entry& e : recorded::all("amdgpu-sysfs/lact-")) {
    CAPTURE(e.file);
    Machine m(false, false);
    m.tree().link("sys/class/drm/renderD128/device", recorded_card(e));
    Spill detector(context_of(m), 0, {});
    const bool is_seen = static_cast<bool>(detector.observe("recorded"));
    const SpillReport r = detector.report();
    // The two processors are named as such in the index.
    if (e.file.find("phoenix") != std::string::npos ||
        e.file.find("strixpoint") != std::string::npos) {
      CHECK_FALSE(is_seen);
      CHECK(r.why.code == Status::unsupported);
      CHECK(drm_test::mentions(r.why, "host's RAM"));
      ++processors;
      continue;
    }
    REQUIRE(is_seen == (e.has("vram_used_bytes") && e.has("gtt_used_bytes")));
    CHECK(r.totals.observations == (is_seen ? 1 : 0));
    if (!is_seen) continue;
    CHECK(r.totals.last.from == Source::amdgpu);
    CHECK(r.totals.last.dedicated == e.number("vram_used_bytes"));
    CHECK(r.totals.last.shared == e.number("gtt_used_bytes"));
    CHECK(r.totals.limit == e.number("vram_total_bytes"));
    CHECK(r.totals.rules == 0);
    ++reported;
  }
  CHECK(processors == 2);
  CHECK(reported == 3);
}

TEST_CASE("a recorded client tells that nothing of its memory was evicted, and then that it was") {
  const Entry e = recorded::one("drm-fdinfo/amdgpu-2024-drm-total.txt");
  const std::string address = e.expected.at("pdev").get<std::string>();
  std::string text = e.text();
  Machine m(false, false);
  m.add_pci(amdgpu_test::navi(address.c_str()), {drm_test::render128});
  m.add_process(42, {{3, "/dev/dri/renderD128", text}});
  Spill detector(context_of(m), 0, {});
  REQUIRE(detector.observe("recorded"));
  SpillTotals seen = detector.report().totals;
  CHECK(seen.last.evicted == e.expected.at("memory_bytes").at("amd-evicted-vram").get<unsigned>());
  CHECK(seen.baseline_evicted == 0U);
  CHECK(seen.rules == 0);

  constexpr std::string_view none = "amd-evicted-vram:\t0 KiB";
  const std::size_t at = text.find(none);
  REQUIRE(at != text.npos);
  text.replace(at, none.size(), "amd-evicted-vram:\t262144 KiB");
  m.tree().write("proc/42/fdinfo/3", text);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(detector.observe("changed"));
  seen = detector.report().totals;
  CHECK(seen.last.evicted == std::uint64_t{256} << 20);
  CHECK(seen.rules == spill_rule::evicted);
  CHECK(seen.episodes == 1);
}
