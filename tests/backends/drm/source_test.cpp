// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drm_source.hpp"

#include <doctest/doctest.h>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace drm_test;

TEST_CASE("no DRM, and only NVIDIA's driver, is no source") {
  Machine m;
  CHECK(m.source().probe().why().code == Status::no_source);
  hmn_fake::PciDevice nvidia = nouveau();
  nvidia.driver = "nvidia";
  m.add_pci(nvidia, {card0, render128});
  CHECK(m.source().probe().why().code == Status::no_source);
  PlainReading r;
  CHECK(m.devices(r).empty());
  CHECK(r.diagnostics.empty());
  m.add_pci(radeon(), {render129});
  platform::sleep_ns(platform::ns_per_second);  // nothing is looked for twice in a second
  CHECK(m.source().probe());
}

TEST_CASE("who a device is") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == Source::drm);
  CHECK(found[0].state == State::ready);
  CHECK(found[0].vendor == vendor::amd);
  CHECK(found[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(found[0].pci_device == 0x73bfu);
  CHECK(found[0].pci_subsystem == 0x440e1da2u);
  CHECK(found[0].render_minor == 128u);
  CHECK_FALSE(found[0].numa_node);
  CHECK(found[0].name.empty());
  const Diagnostic* const nameless = r.find("no name");
  REQUIRE(nameless != nullptr);
  CHECK(nameless->why.code == Status::unsupported);
  CHECK(nameless->field == device_field::name);
}

TEST_CASE("a card without a node here is told, not listed") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  m.remove_node_file(card0);
  PlainReading first;
  CHECK(m.devices(first).size() == 1);
  m.remove_node_file(render128);
  PlainReading r;
  CHECK(m.devices(r).empty());
  const Diagnostic* const hidden = r.find("0000:03:00.0 (driver radeon)");
  REQUIRE(hidden != nullptr);
  CHECK(hidden->why.code == Status::no_device);
  CHECK(hidden->about == subject::devices);
  // A node with other numbers is that of something else.
  m.add_node_file({render128.name, "/dev/zero"});
  CHECK(m.devices(r).empty());
  m.add_node_file(render128);
  CHECK(m.devices(r).size() == 1);
}

TEST_CASE("beside another sysfs tree there are no nodes to miss") {
  Machine m(false, false);
  m.add_pci(radeon(), {card0, render128});
  m.remove_node_file(card0);
  m.remove_node_file(render128);
  PlainReading r;
  CHECK(m.devices(r).size() == 1);
}

TEST_CASE("slots are kept over unplugging, and another card in the same place is another device") {
  Machine m;
  m.add_pci(nouveau(), {card0, render128});
  m.add_pci(radeon(), {card1, render129});
  PlainReading r;
  auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  const Slot gone = found[0].pci_bus_id.view() == "0000:01:00.0" ? 0 : 1;
  m.tree().remove("sys/class/drm/card0");
  m.tree().remove("sys/class/drm/renderD128");
  found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 1 - gone);
  Pools p;
  CHECK(m.source().memory(gone, p, r).why().code == Status::device_lost);
  CHECK(m.source().memory(7, p, r).why().code == Status::no_device);
  m.add_pci(nouveau(), {card0, render128});
  found = m.devices(r);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number + found[1].number == 1);
  hmn_fake::PciDevice newer = nouveau();
  newer.device = 0x2684;
  m.add_pci(newer, {card0, render128});
  found = m.devices(r);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number + found[1].number == 3 - gone);
}

TEST_CASE("a sleeping card has its identity and no figures") {
  Machine m;
  for (const char* word : {"suspended", "suspending"}) {
    hmn_fake::PciDevice d = radeon();
    d.runtime_status = word;
    m.add_pci(d, {card0, render128});
    PlainReading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    CHECK(found[0].state == State::asleep);
    CHECK(found[0].pci_device == 0x73bfu);
    Telemetry t;
    std::vector<Usage> rows;
    CHECK(m.source().telemetry(0, telemetry_field::all, t, r).why().code == Status::asleep);
    CHECK(m.source().processes(0, rows, r).why().code == Status::asleep);
  }
}

TEST_CASE("the driver's switch leaves its cards out") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  Settings s = m.settings();
  s.sources_off = 1U << 9;
  hmn::drm::DrmSource off(s);
  PlainReading r;
  REQUIRE(off.prepare(r));
  std::vector<Device> found;
  REQUIRE(off.devices(found, r));
  CHECK(found.empty());
}
