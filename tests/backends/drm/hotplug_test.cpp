// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A change between two readings shows in the second.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace drm_test;

namespace {

const std::string radeon_folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");

std::string format_client(unsigned id, unsigned resident_kib) {
  return "drm-driver:\tradeon\ndrm-client-id:\t" + std::to_string(id) + "\ndrm-resident-vram:\t" +
         std::to_string(resident_kib) + " KiB\n";
}

void unplug(Machine& machine, const std::vector<FakeNode>& nodes) {
  machine.tree().remove(radeon_folder);
  for (const FakeNode& node : nodes) {
    machine.tree().remove("sys/class/drm/" + node.name);
    machine.remove_node_file(node);
  }
}

const Device* find_device(const std::vector<Device>& devices, Slot number) {
  const auto it = std::find_if(devices.begin(), devices.end(),
                               [&](const Device& device) { return device.slot == number; });
  return it == devices.end() ? nullptr : &*it;
}

}  // namespace

TEST_CASE("a card that is plugged in is listed, and its clients are found immediately") {
  Machine machine;
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  machine.add_process(10, {{3, "/dev/full", format_client(1, 8)}});
  PlainReading reading;
  REQUIRE(machine.devices(reading).size() == 1);
  CHECK(machine.rows(0, reading).empty());
  machine.add_pci(radeon(), {card1, render129});
  machine.add_process(11, {{3, "/dev/full", format_client(2, 16)}});
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  REQUIRE(find_device(devices, 1) != nullptr);
  CHECK(find_device(devices, 1)->pci_bus_id == Text<32>("0000:03:00.0"));
  const auto rows = machine.rows(1, reading);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 8 * kib);
  CHECK(rows[1].used == 16 * kib);
}

TEST_CASE("an unplugged card is lost with its clients, and returns under its old number") {
  Machine machine;
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  machine.add_pci(radeon(), {card1, render129});
  machine.add_process(10, {{3, "/dev/full", format_client(1, 8)}});
  PlainReading reading;
  const auto first = machine.devices(reading);
  REQUIRE(first.size() == 2);
  const Slot number = first[0].vendor == vendor::amd ? first[0].slot : first[1].slot;
  REQUIRE(machine.rows(number, reading).size() == 1);
  unplug(machine, {card1, render129});
  CHECK(find_device(machine.devices(reading), number) == nullptr);
  std::vector<Usage> rows;
  CHECK(machine.source().processes(number, rows, reading).failure().code == Status::device_lost);
  Telemetry telemetry;
  CHECK(
      machine.source().telemetry(number, telemetry_field::all, telemetry, reading).failure().code ==
      Status::device_lost);
  CHECK(machine.rows(1 - number, reading).empty());
  machine.add_pci(radeon(), {card1, render129});
  REQUIRE(find_device(machine.devices(reading), number) != nullptr);
  CHECK(machine.rows(number, reading).size() == 1);
}

TEST_CASE("node numbers may change when the driver is reloaded") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  machine.add_process(10, {{3, "/dev/null", format_client(1, 8)}});
  PlainReading reading;
  REQUIRE(machine.devices(reading).size() == 1);
  REQUIRE(machine.rows(0, reading).size() == 1);
  unplug(machine, {card0, render128});
  CHECK(machine.devices(reading).empty());
  machine.add_pci(radeon(), {card1, render129});
  machine.add_process(11, {{3, "/dev/full", format_client(1, 4)}});
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].slot == 0);
  CHECK(devices[0].render_minor == 129u);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);  // 10 has a device number that no card has now
  CHECK(rows[0].pid == 11);
  CHECK(rows[0].used == 4 * kib);
}

TEST_CASE("a card with another driver keeps its number") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  PlainReading reading;
  REQUIRE(machine.devices(reading).size() == 1);
  unplug(machine, {card0, render128});
  hmn_fake::PciDevice replacement = radeon();
  replacement.driver = "nouveau";
  machine.add_pci(replacement, {card0, render128});
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].slot == 0);
  PoolList pools;
  const auto failure = machine.source().memory(0, pools, reading).failure();
  CHECK(mentions(failure, "nouveau"));
}

TEST_CASE("a card that falls asleep or wakes is noticed by the list and by readings") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  machine.add_process(10, {{3, "/dev/null", format_client(1, 8)}});
  PlainReading reading;
  CHECK(machine.devices(reading).at(0).state == State::ready);
  const std::string status_file = radeon_folder + "/power/runtime_status";
  machine.tree().write(status_file, "suspended\n");
  std::vector<Usage> rows;
  REQUIRE(machine.source().prepare(reading));
  CHECK(machine.source().processes(0, rows, reading).failure().code == Status::asleep);
  CHECK(machine.devices(reading).at(0).state == State::asleep);
  machine.tree().write(status_file, "active\n");
  CHECK(machine.rows(0, reading).size() == 1);
  machine.tree().write(status_file, "");
  CHECK(machine.devices(reading).at(0).state == State::unknown);
  REQUIRE(machine.source().prepare(reading));
  CHECK_FALSE(machine.source().processes(0, rows, reading));
}

TEST_CASE("a partition that is added or removed is a device that is added or removed") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  PlainReading reading;
  REQUIRE(machine.devices(reading).size() == 1);
  machine.add_platform("part.1", "v3d", {card1, render129});
  REQUIRE(machine.devices(reading).size() == 2);
  machine.tree().remove("sys/devices/platform/part.1");
  machine.tree().remove("sys/class/drm/card1");
  machine.tree().remove("sys/class/drm/renderD129");
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].slot == 0);
}
