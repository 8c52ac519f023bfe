// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping GPU is never woken: the tool is not even started.
#include <doctest/doctest.h>

#include "machine.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

hmn_fake::PciDevice card(const char* address, const char* status) {
  hmn_fake::PciDevice d;
  d.address = address;
  d.device = 0x26b9;
  d.subsystem_vendor = 0x10de;
  d.subsystem_device = 0x1851;
  d.power_control = "auto";
  d.runtime_status = status;
  return d;
}

void add_gpu(const Machine& m, const char* address, const char* status,
             const char* driver = "nvidia") {
  hmn_fake::PciDevice d = card(address, status);
  d.driver = driver;
  hmn_fake::add_pci_device(m.tree(), d);
}

}  // namespace

TEST_CASE("while one sleeps, devices are listed from the bus") {
  Machine m(scenario({gpu(0), gpu(1)}));
  add_gpu(m, "0000:01:00.0", "suspended");
  add_gpu(m, "0000:02:00.0", "active");
  PlainReading r;
  const auto ready = m.source().prepare(r);
  REQUIRE_FALSE(ready);
  CHECK(ready.why().code == Status::asleep);
  std::vector<Device> found;
  REQUIRE(m.source().devices(found, r));
  REQUIRE(found.size() == 2);
  CHECK(found[0].state == State::asleep);
  CHECK(found[0].pci_bus_id.view() == "0000:01:00.0");
  CHECK(found[0].pci_device == 0x26b9u);
  CHECK(found[0].pci_subsystem == 0x185110deu);
  CHECK(found[0].name.empty());
  CHECK(found[1].state == State::unknown);
  Pools p;
  Telemetry t;
  std::vector<Usage> rows;
  Usage one;
  CHECK(m.source().memory(0, p, r).why().code == Status::asleep);
  CHECK(m.source().telemetry(0, telemetry_field::power_watts, t, r).why().code == Status::asleep);
  CHECK(m.source().processes(0, rows, r).why().code == Status::asleep);
  CHECK(m.source().process(0, 1, true, one, r).why().code == Status::asleep);
  CHECK(m.starts().empty());
}

TEST_CASE("a device keeps slot and name over a sleep") {
  Machine m(scenario({gpu(0), gpu(1)}));
  PlainReading r;
  REQUIRE(m.devices(r)->size() == 2);
  add_gpu(m, "0000:01:00.0", "active");
  add_gpu(m, "0000:02:00.0", "suspending");
  const auto asleep = m.devices(r);
  REQUIRE(asleep);
  REQUIRE(asleep->size() == 2);
  CHECK(asleep->at(1).number == 1);
  CHECK(asleep->at(1).state == State::asleep);
  CHECK(asleep->at(1).name.view() == "NVIDIA L40S");
  CHECK(asleep->at(1).uuid.view() == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(m.starts().size() == 1);
  add_gpu(m, "0000:02:00.0", "active");
  CHECK(m.devices(r)->at(1).state == State::ready);
}

TEST_CASE("a slot given while asleep is kept once awake") {
  Machine m(scenario({gpu(0), gpu(1)}));
  add_gpu(m, "0000:02:00.0", "suspended");
  PlainReading r;
  REQUIRE(m.devices(r)->size() == 1);
  add_gpu(m, "0000:02:00.0", "active");
  const auto awake = m.devices(r);
  REQUIRE(awake->size() == 2);
  CHECK(awake->at(0).pci_bus_id.view() == "0000:02:00.0");
  CHECK(awake->at(0).number == 0);
}

TEST_CASE("waking is allowed where the context says so") {
  Machine m(scenario({gpu(0)}), true);
  add_gpu(m, "0000:01:00.0", "suspended");
  PlainReading r;
  CHECK(m.devices(r)->at(0).state == State::ready);
}

TEST_CASE("a card of another driver, and one of another vendor, may sleep") {
  Machine m(scenario({gpu(0)}));
  add_gpu(m, "0000:01:00.0", "suspended", "vfio-pci");
  hmn_fake::PciDevice radeon = card("0000:03:00.0", "suspended");
  radeon.vendor = 0x1002;
  hmn_fake::add_pci_device(m.tree(), radeon);
  hmn_fake::PciDevice audio = card("0000:01:00.1", "suspended");
  audio.device_class = 0x040300;
  hmn_fake::add_pci_device(m.tree(), audio);
  PlainReading r;
  CHECK(m.devices(r)->at(0).state == State::ready);
}
