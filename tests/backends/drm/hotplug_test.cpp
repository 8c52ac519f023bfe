// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What changes between two readings is seen at the second.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace drm_test;

namespace {

const std::string radeon_folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");

std::string plugged_client(unsigned id, unsigned kib_resident) {
  return "drm-driver:\tradeon\ndrm-client-id:\t" + std::to_string(id) + "\ndrm-resident-vram:\t" +
         std::to_string(kib_resident) + " KiB\n";
}

void unplug(Machine& m, const std::vector<FakeNode>& nodes) {
  m.tree().remove(radeon_folder);
  for (const FakeNode& n : nodes) {
    m.tree().remove("sys/class/drm/" + n.name);
    m.remove_node_file(n);
  }
}

const Device* at(const std::vector<Device>& all, Slot number) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Device& d) { return d.number == number; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a card that is plugged in is listed, and its clients are found at once") {
  Machine m;
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  m.add_process(10, {{3, "/dev/full", plugged_client(1, 8)}});
  PlainReading r;
  REQUIRE(m.devices(r).size() == 1);
  CHECK(m.rows(0, r).empty());
  m.add_pci(radeon(), {card1, render129});
  m.add_process(11, {{3, "/dev/full", plugged_client(2, 16)}});
  const auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  REQUIRE(at(found, 1) != nullptr);
  CHECK(at(found, 1)->pci_bus_id == Text<32>("0000:03:00.0"));
  const auto rows = m.rows(1, r);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 8 * kib);
  CHECK(rows[1].used == 16 * kib);
}

TEST_CASE(
    "a card that is unplugged is lost, its clients are nobody's, and it comes back as itself") {
  Machine m;
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  m.add_pci(radeon(), {card1, render129});
  m.add_process(10, {{3, "/dev/full", plugged_client(1, 8)}});
  PlainReading r;
  const auto first = m.devices(r);
  REQUIRE(first.size() == 2);
  const Slot number = first[0].vendor == vendor::amd ? first[0].number : first[1].number;
  REQUIRE(m.rows(number, r).size() == 1);
  unplug(m, {card1, render129});
  CHECK(at(m.devices(r), number) == nullptr);
  std::vector<Usage> rows;
  CHECK(m.source().processes(number, rows, r).why().code == Status::device_lost);
  Telemetry t;
  CHECK(m.source().telemetry(number, telemetry_field::all, t, r).why().code == Status::device_lost);
  CHECK(m.rows(1 - number, r).empty());
  m.add_pci(radeon(), {card1, render129});
  REQUIRE(at(m.devices(r), number) != nullptr);
  CHECK(m.rows(number, r).size() == 1);
}

TEST_CASE("after a reload of the driver the node may have other numbers") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  m.add_process(10, {{3, "/dev/null", plugged_client(1, 8)}});
  PlainReading r;
  REQUIRE(m.devices(r).size() == 1);
  REQUIRE(m.rows(0, r).size() == 1);
  unplug(m, {card0, render128});
  CHECK(m.devices(r).empty());
  m.add_pci(radeon(), {card1, render129});
  m.add_process(11, {{3, "/dev/full", plugged_client(1, 4)}});
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 0);
  CHECK(found[0].render_minor == 129u);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);  // 10 holds a number that is no card's now
  CHECK(rows[0].pid == 11);
  CHECK(rows[0].used == 4 * kib);
}

TEST_CASE("another driver on the same card tells under the same number") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  PlainReading r;
  REQUIRE(m.devices(r).size() == 1);
  unplug(m, {card0, render128});
  hmn_fake::PciDevice other = radeon();
  other.driver = "nouveau";
  m.add_pci(other, {card0, render128});
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 0);
  Pools p;
  const auto why = m.source().memory(0, p, r).why();
  CHECK(mentions(why, "nouveau"));
}

TEST_CASE("falling asleep and waking are seen in the list and by the readings between") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  m.add_process(10, {{3, "/dev/null", plugged_client(1, 8)}});
  PlainReading r;
  CHECK(m.devices(r).at(0).state == State::ready);
  const std::string status_file = radeon_folder + "/power/runtime_status";
  m.tree().write(status_file, "suspended\n");
  std::vector<Usage> rows;
  REQUIRE(m.source().prepare(r));
  CHECK(m.source().processes(0, rows, r).why().code == Status::asleep);
  CHECK(m.devices(r).at(0).state == State::asleep);
  m.tree().write(status_file, "active\n");
  CHECK(m.rows(0, r).size() == 1);
  m.tree().write(status_file, "");
  CHECK(m.devices(r).at(0).state == State::unknown);
  REQUIRE(m.source().prepare(r));
  CHECK_FALSE(m.source().processes(0, rows, r));
}

TEST_CASE("a partition that comes and goes is a device that comes and goes") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  PlainReading r;
  REQUIRE(m.devices(r).size() == 1);
  m.add_platform("part.1", "v3d", {card1, render129});
  REQUIRE(m.devices(r).size() == 2);
  m.tree().remove("sys/devices/platform/part.1");
  m.tree().remove("sys/class/drm/card1");
  m.tree().remove("sys/class/drm/renderD129");
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 0);
}
