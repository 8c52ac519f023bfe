// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/drm_source.hpp"

#include <doctest/doctest.h>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace drm_test;

TEST_CASE("no DRM, and only NVIDIA's driver, is no source") {
  machine m;
  CHECK(m.source().probe().why().code == status::no_source);
  hmn_fake::pci_device nvidia = nouveau();
  nvidia.driver = "nvidia";
  m.add_pci(nvidia, {card0, render128});
  CHECK(m.source().probe().why().code == status::no_source);
  plain_reading r;
  CHECK(m.devices(r).empty());
  CHECK(r.diagnostics.empty());
  m.add_pci(radeon(), {render129});
  platform::sleep_ns(platform::ns_per_second);  // nothing is looked for twice in a second
  CHECK(m.source().probe());
}

TEST_CASE("who a device is") {
  machine m;
  m.add_pci(radeon(), {card0, render128});
  plain_reading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == source::drm);
  CHECK(found[0].state == state::ready);
  CHECK(found[0].vendor == vendor::amd);
  CHECK(found[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(found[0].pci_device == 0x73bfu);
  CHECK(found[0].pci_subsystem == 0x440e1da2u);
  CHECK(found[0].render_minor == 128u);
  CHECK_FALSE(found[0].numa_node);
  CHECK(found[0].name.empty());
  const diagnostic* const nameless = r.find("no name");
  REQUIRE(nameless != nullptr);
  CHECK(nameless->why.code == status::unsupported);
  CHECK(nameless->field == device_field::name);
}

TEST_CASE("a card without a node here is told, not listed") {
  machine m;
  m.add_pci(radeon(), {card0, render128});
  m.remove_node_file(card0);
  plain_reading first;
  CHECK(m.devices(first).size() == 1);
  m.remove_node_file(render128);
  plain_reading r;
  CHECK(m.devices(r).empty());
  const diagnostic* const hidden = r.find("0000:03:00.0 (driver radeon)");
  REQUIRE(hidden != nullptr);
  CHECK(hidden->why.code == status::no_device);
  CHECK(hidden->about == subject::devices);
  // A node with other numbers is that of something else.
  m.add_node_file({render128.name, "/dev/zero"});
  CHECK(m.devices(r).empty());
  m.add_node_file(render128);
  CHECK(m.devices(r).size() == 1);
}

TEST_CASE("beside another sysfs tree there are no nodes to miss") {
  machine m(false, false);
  m.add_pci(radeon(), {card0, render128});
  m.remove_node_file(card0);
  m.remove_node_file(render128);
  plain_reading r;
  CHECK(m.devices(r).size() == 1);
}

TEST_CASE("slots are kept over unplugging, and another card in the same place is another device") {
  machine m;
  m.add_pci(nouveau(), {card0, render128});
  m.add_pci(radeon(), {card1, render129});
  plain_reading r;
  auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  const slot gone = found[0].pci_bus_id.view() == "0000:01:00.0" ? 0 : 1;
  m.tree().remove("sys/class/drm/card0");
  m.tree().remove("sys/class/drm/renderD128");
  found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].number == 1 - gone);
  pools p;
  CHECK(m.source().memory(gone, p, r).why().code == status::device_lost);
  CHECK(m.source().memory(7, p, r).why().code == status::no_device);
  m.add_pci(nouveau(), {card0, render128});
  found = m.devices(r);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number + found[1].number == 1);
  hmn_fake::pci_device newer = nouveau();
  newer.device = 0x2684;
  m.add_pci(newer, {card0, render128});
  found = m.devices(r);
  REQUIRE(found.size() == 2);
  CHECK(found[0].number + found[1].number == 3 - gone);
}

TEST_CASE("a sleeping card has its identity and no figures") {
  machine m;
  for (const char* word : {"suspended", "suspending"}) {
    hmn_fake::pci_device d = radeon();
    d.runtime_status = word;
    m.add_pci(d, {card0, render128});
    plain_reading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    CHECK(found[0].state == state::asleep);
    CHECK(found[0].pci_device == 0x73bfu);
    telemetry t;
    std::vector<usage> rows;
    CHECK(m.source().telemetry(0, telemetry_field::all, t, r).why().code == status::asleep);
    CHECK(m.source().processes(0, rows, r).why().code == status::asleep);
  }
}

TEST_CASE("the driver's switch leaves its cards out") {
  machine m;
  m.add_pci(radeon(), {card0, render128});
  settings s = m.settings();
  s.sources_off = 1U << 9;
  hmn::drm::drm_source off(s);
  plain_reading r;
  REQUIRE(off.prepare(r));
  std::vector<device> found;
  REQUIRE(off.devices(found, r));
  CHECK(found.empty());
}
