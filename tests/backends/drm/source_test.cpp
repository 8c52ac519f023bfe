// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drm_source.hpp"

#include <doctest/doctest.h>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace drm_test;

TEST_CASE("without DRM, or with only the nvidia driver, there is no source") {
  Machine machine;
  CHECK(machine.source().probe().failure().code == Status::no_source);
  hmn_fake::PciDevice nvidia = nouveau();
  nvidia.driver = "nvidia";
  machine.add_pci(nvidia, {card0, render128});
  CHECK(machine.source().probe().failure().code == Status::no_source);
  PlainReading reading;
  CHECK(machine.devices(reading).empty());
  CHECK(reading.diagnostics.empty());
  machine.add_pci(radeon(), {render129});
  platform::sleep_ns(platform::ns_per_second);  // discovery runs at most once per second
  CHECK(machine.source().probe());
}

TEST_CASE("a device reports its vendor, PCI address, PCI ids and render node") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].source == Source::drm);
  CHECK(devices[0].state == State::ready);
  CHECK(devices[0].vendor == vendor::amd);
  CHECK(devices[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(devices[0].pci_device == 0x73bfu);
  CHECK(devices[0].pci_subsystem == 0x440e1da2u);
  CHECK(devices[0].render_minor == 128u);
  CHECK_FALSE(devices[0].numa_node);
  CHECK(devices[0].name.empty());
  const Diagnostic* const nameless = reading.find("no name");
  REQUIRE(nameless != nullptr);
  CHECK(nameless->failure.code == Status::unsupported);
  CHECK(nameless->field == device_field::name);
}

TEST_CASE("a card without a node in /dev is reported, not listed") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  machine.remove_node_file(card0);
  PlainReading first;
  CHECK(machine.devices(first).size() == 1);
  machine.remove_node_file(render128);
  PlainReading reading;
  CHECK(machine.devices(reading).empty());
  const Diagnostic* const diagnostic = reading.find("0000:03:00.0 (driver radeon)");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::no_device);
  CHECK(diagnostic->subject == subject::devices);
  // A node with other numbers belongs to another device.
  machine.add_node_file({render128.name, "/dev/zero"});
  CHECK(machine.devices(reading).empty());
  machine.add_node_file(render128);
  CHECK(machine.devices(reading).size() == 1);
}

TEST_CASE("with another sysfs tree nodes are not required") {
  Machine machine(false, false);
  machine.add_pci(radeon(), {card0, render128});
  machine.remove_node_file(card0);
  machine.remove_node_file(render128);
  PlainReading reading;
  CHECK(machine.devices(reading).size() == 1);
}

TEST_CASE("a card keeps its number after unplugging, and a new card there gets another") {
  Machine machine;
  machine.add_pci(nouveau(), {card0, render128});
  machine.add_pci(radeon(), {card1, render129});
  PlainReading reading;
  auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  const Slot removed_slot = devices[0].pci_bus_id.view() == "0000:01:00.0" ? 0 : 1;
  machine.tree().remove("sys/class/drm/card0");
  machine.tree().remove("sys/class/drm/renderD128");
  devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].slot == 1 - removed_slot);
  PoolList pools;
  CHECK(machine.source().memory(removed_slot, pools, reading).failure().code ==
        Status::device_lost);
  CHECK(machine.source().memory(7, pools, reading).failure().code == Status::no_device);
  machine.add_pci(nouveau(), {card0, render128});
  devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].slot + devices[1].slot == 1);
  hmn_fake::PciDevice newer = nouveau();
  newer.device = 0x2684;
  machine.add_pci(newer, {card0, render128});
  devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].slot + devices[1].slot == 3 - removed_slot);
}

TEST_CASE("a sleeping card has its identity and no values") {
  Machine machine;
  for (const char* word : {"suspended", "suspending"}) {
    hmn_fake::PciDevice card = radeon();
    card.runtime_status = word;
    machine.add_pci(card, {card0, render128});
    PlainReading reading;
    const auto devices = machine.devices(reading);
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].state == State::asleep);
    CHECK(devices[0].pci_device == 0x73bfu);
    Telemetry telemetry;
    std::vector<Usage> rows;
    CHECK(machine.source().telemetry(0, telemetry_field::all, telemetry, reading).failure().code ==
          Status::asleep);
    CHECK(machine.source().processes(0, rows, reading).failure().code == Status::asleep);
  }
}

TEST_CASE("a driver that is disabled hides its cards") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  Settings settings = machine.settings();
  settings.disabled_sources = 1U << 9;
  hmn::drm::DrmSource source(settings);
  PlainReading reading;
  REQUIRE(source.prepare(reading));
  std::vector<Device> devices;
  REQUIRE(source.devices(devices, reading));
  CHECK(devices.empty());
}
