// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Frequent readings do not keep an idle card awake.
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
  hmn_fake::PciDevice card = navi();
  card.files["gpu_busy_percent"] = "0\n";
  return card;
}

}  // namespace

TEST_CASE("sensors of an idle card are left alone while its memory and clients are read") {
  Machine machine;
  machine.add_pci(idle_card(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  ImpatientReader reader(machine);
  REQUIRE(reader.read());
  CHECK_FALSE(reader.source().is_suspended());

  hmn_fake::OpenWatch device_watch(machine.tree().path(navi_folder));
  hmn_fake::OpenWatch hwmon_watch(machine.tree().path(navi_folder + "/hwmon/hwmon4"));
  const Result<void> result = reader.read();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::asleep);
  CHECK(reader.source().is_suspended());
  CHECK(reader.state() == State::ready);
  std::vector<Metric> metrics;
  CHECK(reader.source().metrics(0, true, metrics, reader.reading()).failure().code ==
        Status::asleep);
  CHECK(reader.source().is_suspended());
  CHECK(hwmon_watch.opened_names().empty());
  for (const std::string& name : device_watch.opened_names()) CHECK(name != "gpu_busy_percent");

  PoolList pools;
  REQUIRE(reader.source().memory(0, pools, reader.reading()));
  CHECK(pools.find(PoolKind::main)->used == 3 * gib);
  CHECK_FALSE(reader.source().is_suspended());
  std::vector<Usage> rows;
  REQUIRE(reader.source().processes(0, rows, reader.reading()));
  CHECK(rows.at(0).used == 2048 * kib);
  CHECK_FALSE(reader.source().is_suspended());
}

TEST_CASE("an idle card is left alone until it sleeps, and is read again when it is awake") {
  Machine machine;
  machine.add_pci(idle_card(), {card0, render128});
  ImpatientReader reader(machine);
  REQUIRE(reader.read());
  REQUIRE_FALSE(reader.read());
  machine.tree().write(navi_folder + "/power/runtime_status", "suspended\n");
  CHECK(reader.read().failure().code == Status::asleep);
  CHECK(reader.state() == State::asleep);
  CHECK_FALSE(reader.source().is_suspended());  // a sleeping card has no stale values
  machine.tree().write(navi_folder + "/power/runtime_status", "active\n");
  CHECK(reader.read());
}

TEST_CASE("a card that would not sleep anyway is read at every request") {
  hmn_fake::PciDevice card = idle_card();
  bool may_wake = false;
  const char* display = "disabled\n";
  SUBCASE("a card in use") {
    card.files["gpu_busy_percent"] = "1\n";
  }
  SUBCASE("a card that reports no load") {
    card.files.erase("gpu_busy_percent");
  }
  SUBCASE("a card that never sleeps") {
    card.power_control = "on";
  }
  SUBCASE("a card with an active display") {
    display = "enabled\n";
  }
  SUBCASE("a card that may be woken") {
    may_wake = true;
  }
  Machine machine;
  machine.add_pci(card, {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  machine.tree().write(navi_folder + "/drm/card0/card0-HDMI-A-1/enabled", display);
  ImpatientReader reader(machine, may_wake);
  REQUIRE(reader.read());
  CHECK(reader.read());
  CHECK_FALSE(reader.source().is_suspended());
}

TEST_CASE("memory readings alone cause no idle back-off, and an unused connector prevents none") {
  Machine machine;
  machine.add_pci(idle_card(), {card0, render128});
  machine.tree().write(navi_folder + "/drm/card0/card0-HDMI-A-1/enabled", "disabled\n");
  ImpatientReader reader(machine);
  for (int i = 0; i < 2; ++i) {
    reader.begin();
    PoolList pools;
    REQUIRE(reader.source().memory(0, pools, reader.reading()));
    reader.source().finish(reader.reading());
  }
  REQUIRE(reader.read());
  CHECK_FALSE(reader.read());
}

TEST_CASE("the idle back-off lasts as long as the kernel's autosuspend delay requires") {
  Machine machine;
  machine.add_pci(idle_card(), {card0, render128});
  machine.tree().write(navi_folder + "/power/autosuspend_delay_ms", "20000\n");
  PlainReading reading;
  machine.devices(reading);
  constexpr std::uint64_t second = platform::ns_per_second;
  drm::Card card;
  card.folder.assign(machine.tree().path(navi_folder));
  drm::CardBackoff backoff(0);
  CHECK_FALSE(backoff.begin(card, second));
  backoff.note_query(card);
  REQUIRE(backoff.is_due(card, second));
  backoff.start(card, second);
  CHECK(backoff.begin(card, 40 * second));
  CHECK_FALSE(backoff.begin(card, 41 * second));
}
