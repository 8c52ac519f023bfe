// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A sleeping GPU is never woken: the tool is not even started.
#include <doctest/doctest.h>

#include "machine.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

hmn_fake::PciDevice card(const char* address, const char* status) {
  hmn_fake::PciDevice device;
  device.address = address;
  device.device = 0x26b9;
  device.subsystem_vendor = 0x10de;
  device.subsystem_device = 0x1851;
  device.power_control = "auto";
  device.runtime_status = status;
  return device;
}

void add_gpu(const Machine& machine, const char* address, const char* status,
             const char* driver = "nvidia") {
  hmn_fake::PciDevice device = card(address, status);
  device.driver = driver;
  hmn_fake::add_pci_device(machine.tree(), device);
}

}  // namespace

TEST_CASE("while one GPU sleeps, devices are listed from the bus") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  add_gpu(machine, "0000:01:00.0", "suspended");
  add_gpu(machine, "0000:02:00.0", "active");
  PlainReading reading;
  const auto ready = machine.source().prepare(reading);
  REQUIRE_FALSE(ready);
  CHECK(ready.failure().code == Status::asleep);
  std::vector<Device> devices;
  REQUIRE(machine.source().devices(devices, reading));
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].state == State::asleep);
  CHECK(devices[0].pci_bus_id.view() == "0000:01:00.0");
  CHECK(devices[0].pci_device == 0x26b9u);
  CHECK(devices[0].pci_subsystem == 0x185110deu);
  CHECK(devices[0].name.empty());
  CHECK(devices[1].state == State::unknown);
  PoolList pools;
  Telemetry telemetry;
  std::vector<Usage> rows;
  Usage usage;
  CHECK(machine.source().memory(0, pools, reading).failure().code == Status::asleep);
  CHECK(machine.source()
            .telemetry(0, telemetry_field::power_watts, telemetry, reading)
            .failure()
            .code == Status::asleep);
  CHECK(machine.source().processes(0, rows, reading).failure().code == Status::asleep);
  CHECK(machine.source().process(0, 1, true, usage, reading).failure().code == Status::asleep);
  CHECK(machine.starts().empty());
}

TEST_CASE("a device keeps its slot and name while asleep") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  PlainReading reading;
  REQUIRE(machine.devices(reading)->size() == 2);
  add_gpu(machine, "0000:01:00.0", "active");
  add_gpu(machine, "0000:02:00.0", "suspending");
  const auto asleep = machine.devices(reading);
  REQUIRE(asleep);
  REQUIRE(asleep->size() == 2);
  CHECK(asleep->at(1).slot == 1);
  CHECK(asleep->at(1).state == State::asleep);
  CHECK(asleep->at(1).name.view() == "NVIDIA L40S");
  CHECK(asleep->at(1).uuid.view() == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(machine.starts().size() == 1);
  add_gpu(machine, "0000:02:00.0", "active");
  CHECK(machine.devices(reading)->at(1).state == State::ready);
}

TEST_CASE("a slot assigned while asleep is kept once awake") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  add_gpu(machine, "0000:02:00.0", "suspended");
  PlainReading reading;
  REQUIRE(machine.devices(reading)->size() == 1);
  add_gpu(machine, "0000:02:00.0", "active");
  const auto awake = machine.devices(reading);
  REQUIRE(awake->size() == 2);
  CHECK(awake->at(0).pci_bus_id.view() == "0000:02:00.0");
  CHECK(awake->at(0).slot == 0);
}

TEST_CASE("the tool is started for a sleeping GPU if the context allows waking") {
  Machine machine(scenario({gpu(0)}), true);
  add_gpu(machine, "0000:01:00.0", "suspended");
  PlainReading reading;
  CHECK(machine.devices(reading)->at(0).state == State::ready);
}

TEST_CASE("cards of other drivers and vendors may sleep") {
  Machine machine(scenario({gpu(0)}));
  add_gpu(machine, "0000:01:00.0", "suspended", "vfio-pci");
  hmn_fake::PciDevice radeon = card("0000:03:00.0", "suspended");
  radeon.vendor = 0x1002;
  hmn_fake::add_pci_device(machine.tree(), radeon);
  hmn_fake::PciDevice audio = card("0000:01:00.1", "suspended");
  audio.device_class = 0x040300;
  hmn_fake::add_pci_device(machine.tree(), audio);
  PlainReading reading;
  CHECK(machine.devices(reading)->at(0).state == State::ready);
}
