// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readings that follow each other fast keep no card awake that has nothing to do.
#include <doctest/doctest.h>

#include "backends/drm/card_list.hpp"
#include "cards.hpp"
#include "machine.hpp"
#include "open_watch.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

hmn_fake::PciDevice idle_card() {
  hmn_fake::PciDevice d = navi();
  d.files["gpu_busy_percent"] = "0\n";
  return d;
}

}  // namespace

TEST_CASE("an idle card's sensors are left alone, its memory and clients are read on") {
  Machine m;
  m.add_pci(idle_card(), {card0, render128});
  m.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  Impatient one(m);
  REQUIRE(one.read());
  CHECK_FALSE(one.source().rests());

  hmn_fake::OpenWatch in_device(m.tree().path(navi_folder));
  hmn_fake::OpenWatch in_hwmon(m.tree().path(navi_folder + "/hwmon/hwmon4"));
  const Result<void> done = one.read();
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::asleep);
  CHECK(one.source().rests());
  CHECK(one.state() == State::ready);
  std::vector<Metric> all;
  CHECK(one.source().metrics(0, true, all, one.reading()).why().code == Status::asleep);
  CHECK(one.source().rests());
  CHECK(in_hwmon.opened().empty());
  for (const std::string& name : in_device.opened()) CHECK(name != "gpu_busy_percent");

  Pools p;
  REQUIRE(one.source().memory(0, p, one.reading()));
  CHECK(p.find(PoolKind::main)->used == 3 * gib);
  CHECK_FALSE(one.source().rests());
  std::vector<Usage> rows;
  REQUIRE(one.source().processes(0, rows, one.reading()));
  CHECK(rows.at(0).used == 2048 * kib);
  CHECK_FALSE(one.source().rests());
}

TEST_CASE("until it sleeps, and is read again when it is awake") {
  Machine m;
  m.add_pci(idle_card(), {card0, render128});
  Impatient one(m);
  REQUIRE(one.read());
  REQUIRE_FALSE(one.read());
  m.tree().write(navi_folder + "/power/runtime_status", "suspended\n");
  CHECK(one.read().why().code == Status::asleep);
  CHECK(one.state() == State::asleep);
  CHECK_FALSE(one.source().rests());  // asleep is no value from before
  m.tree().write(navi_folder + "/power/runtime_status", "active\n");
  CHECK(one.read());
}

TEST_CASE("a card that would not sleep anyway is read as often as asked") {
  hmn_fake::PciDevice d = idle_card();
  bool may_wake = false;
  const char* display = "disabled\n";
  SUBCASE("in use") {
    d.files["gpu_busy_percent"] = "1\n";
  }
  SUBCASE("as far as can be told, without a load") {
    d.files.erase("gpu_busy_percent");
  }
  SUBCASE("one that never sleeps") {
    d.power_control = "on";
  }
  SUBCASE("one that shows a picture") {
    display = "enabled\n";
  }
  SUBCASE("one that may be woken") {
    may_wake = true;
  }
  Machine m;
  m.add_pci(d, {card0, render128});
  m.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  m.tree().write(navi_folder + "/drm/card0/card0-HDMI-A-1/enabled", display);
  Impatient one(m, may_wake);
  REQUIRE(one.read());
  CHECK(one.read());
  CHECK_FALSE(one.source().rests());
}

TEST_CASE(
    "readings of memory alone are no reason to rest, nor a connector without a picture against") {
  Machine m;
  m.add_pci(idle_card(), {card0, render128});
  m.tree().write(navi_folder + "/drm/card0/card0-HDMI-A-1/enabled", "disabled\n");
  Impatient one(m);
  for (int i = 0; i < 2; ++i) {
    one.begin();
    Pools p;
    REQUIRE(one.source().memory(0, p, one.reading()));
    one.source().finish(one.reading());
  }
  REQUIRE(one.read());
  CHECK_FALSE(one.read());
}

TEST_CASE("the rest is as long as the kernel's delay asks for") {
  Machine m;
  m.add_pci(idle_card(), {card0, render128});
  m.tree().write(navi_folder + "/power/autosuspend_delay_ms", "20000\n");
  PlainReading r;
  m.devices(r);
  constexpr std::uint64_t second = platform::ns_per_second;
  drm::Card c;
  c.folder.assign(m.tree().path(navi_folder));
  drm::CardBackoff rests(0);
  CHECK_FALSE(rests.begin(c, second));
  rests.asked(c);
  REQUIRE(rests.is_due(c, second));
  rests.start(c, second);
  CHECK(rests.begin(c, 40 * second));
  CHECK_FALSE(rests.begin(c, 41 * second));
}
