// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace hmn;

namespace {

Device make_device(Slot number, std::uint32_t vendor, const char* pci, const char* uuid = "") {
  Device device;
  device.slot = number;
  device.vendor = vendor;
  device.state = State::ready;
  device.pci_bus_id.assign(pci);
  device.uuid.assign(uuid);
  return device;
}

Device make_partition(Slot number, Slot parent, const char* uuid) {
  Device device = make_device(number, vendor::nvidia, "0000:01:00.0", uuid);
  device.is_partition = true;
  device.parent = parent;
  return device;
}

void update_table(DeviceTable& table, Source source, const std::vector<Device>& listed) {
  std::vector<const Device*> devices;
  for (const Device& device : listed) devices.push_back(&device);
  table.update(source, devices);
}

std::string_view device_uuid(const DeviceTable& table, std::uint32_t index) {
  return table.at(index).uuid.view();
}

}  // namespace

TEST_CASE("NVIDIA devices come first in driver order, then others by address, then partitions") {
  DeviceTable table;
  update_table(table, Source::simulated,
               {make_device(0, vendor::amd, "0000:c1:00.0", "amd-late"),
                make_device(1, vendor::nvidia, "0000:41:00.0", "nv-first"),
                make_partition(2, 1, "mig"), make_device(3, vendor::intel, "0000:00:02.0", "intel"),
                make_device(4, vendor::nvidia, "0000:01:00.0", "nv-second")});
  REQUIRE(table.count() == 5);
  CHECK(device_uuid(table, 0) == "nv-first");
  CHECK(device_uuid(table, 1) == "nv-second");
  CHECK(device_uuid(table, 2) == "intel");
  CHECK(device_uuid(table, 3) == "amd-late");
  CHECK(device_uuid(table, 4) == "mig");
  CHECK(table.at(4).parent_index == 0);
}

TEST_CASE("a device keeps its index; one that disappears is lost and may return") {
  DeviceTable table;
  const Device first = make_device(0, vendor::nvidia, "0000:01:00.0", "a");
  const Device second = make_device(1, vendor::nvidia, "0000:02:00.0", "b");
  update_table(table, Source::nvml, {first, second});
  update_table(table, Source::nvml, {second});
  CHECK(table.count() == 2);
  CHECK(table.at(0).state == State::lost);
  CHECK(table.at(1).state == State::ready);
  const Device early = make_device(2, vendor::nvidia, "0000:00:01.0", "c");
  update_table(table, Source::nvml, {early, second, first});
  CHECK(table.count() == 3);
  CHECK(table.at(0).state == State::ready);
  CHECK(device_uuid(table, 0) == "a");
  CHECK(device_uuid(table, 2) == "c");
}

TEST_CASE("a card listed by two sources is one device") {
  DeviceTable table;
  update_table(table, Source::nvml, {make_device(7, vendor::nvidia, "0000:01:00.0", "GPU-A")});
  update_table(table, Source::nvidia_smi,
               {make_device(0, vendor::nvidia, "00000000:01:00.0", "gpu-a")});
  CHECK(table.count() == 1);
  CHECK(table.find_slot(0, Source::nvml) == Slot{7});
  CHECK(table.find_slot(0, Source::nvidia_smi) == Slot{0});
  CHECK(table.find_index(Source::nvidia_smi, 0) == 0);
  SUBCASE("the device is lost only if neither source lists it") {
    update_table(table, Source::nvml, {});
    CHECK(table.at(0).state == State::ready);
    update_table(table, Source::nvidia_smi, {});
    CHECK(table.at(0).state == State::lost);
  }
}

TEST_CASE("a partition at its parent's address is a device of its own") {
  DeviceTable table;
  update_table(
      table, Source::nvml,
      {make_device(0, vendor::nvidia, "0000:01:00.0", "GPU-A"), make_partition(1, 0, "MIG-A")});
  CHECK(table.count() == 2);
  CHECK(table.find(*parse_device_key("pci:01:00.0")) == 0);
  CHECK(table.find(*parse_device_key("uuid:mig-a")) == 1);
  CHECK(!table.find(*parse_device_key("uuid:MIG-B")));
}

TEST_CASE("a device is divided while it has partitions") {
  DeviceTable table;
  const Device parent = make_device(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  update_table(table, Source::nvml, {parent, make_partition(1, 0, "MIG-A")});
  CHECK(is_divided(table.at(0)));
  CHECK(!is_divided(table.at(1)));
  table.set_state(Source::nvml, State::hung);
  CHECK(is_divided(table.at(0)));
  update_table(table, Source::nvml, {parent});
  CHECK(!is_divided(table.at(0)));
}

namespace {

Device make_soc(Slot number, Source source, const char* uuid = "") {
  Device device = make_device(number, vendor::nvidia, "", uuid);
  device.form = DeviceForm::integrated;
  device.source = source;
  return device;
}

}  // namespace

TEST_CASE("the GPU of an NVIDIA SoC, which is on no bus, is one device for two sources") {
  DeviceTable table;
  update_table(table, Source::nvml, {make_soc(0, Source::nvml, "GPU-A")});
  update_table(table, Source::tegra, {make_soc(0, Source::tegra)});
  REQUIRE(table.count() == 1);
  CHECK(device_uuid(table, 0) == "GPU-A");
  CHECK(table.find_slot(0, Source::tegra) == 0);
  // In either order.
  DeviceTable reverse_table;
  update_table(reverse_table, Source::tegra, {make_soc(3, Source::tegra)});
  update_table(reverse_table, Source::nvml, {make_soc(0, Source::nvml, "GPU-A")});
  CHECK(reverse_table.count() == 1);
  CHECK(device_uuid(reverse_table, 0) == "GPU-A");
}

TEST_CASE("an Apple GPU listed by the system and by a command is one device") {
  Device system_gpu = make_soc(0, Source::metal);
  Device command_gpu = make_soc(0, Source::macmon);
  system_gpu.vendor = command_gpu.vendor = vendor::apple;
  DeviceTable table;
  update_table(table, Source::metal, {system_gpu});
  update_table(table, Source::macmon, {command_gpu});
  CHECK(table.count() == 1);
  CHECK(table.find_slot(0, Source::macmon) == 0);
}

TEST_CASE("a device that does not match the GPU of an SoC stays separate") {
  Device candidate = make_soc(1, Source::nvml);
  SUBCASE("a card with a PCI address") {
    candidate.pci_bus_id.assign("0001:01:00.0");
  }
  SUBCASE("a discrete card without an address") {
    candidate.form = DeviceForm::discrete;
  }
  SUBCASE("a device of an unknown vendor") {
    candidate.vendor = vendor::unknown;
  }
  SUBCASE("a device of another vendor") {
    candidate.vendor = vendor::apple;
  }
  SUBCASE("two devices of one source") {
    candidate.source = Source::tegra;
  }
  DeviceTable table;
  update_table(table, Source::tegra, {make_soc(0, Source::tegra)});
  update_table(table, candidate.source,
               candidate.source == Source::tegra
                   ? std::vector<Device>{make_soc(0, Source::tegra), candidate}
                   : std::vector<Device>{candidate});
  CHECK(table.count() == 2);
}

TEST_CASE("cards without a UUID are distinguished by address") {
  DeviceTable table;
  update_table(table, Source::nvidia_smi, {make_device(0, vendor::nvidia, "0000:01:00.0")});
  update_table(table, Source::nvml,
               {make_device(0, vendor::nvidia, "0000:01:00.0", "GPU-A"),
                make_device(1, vendor::nvidia, "0000:02:00.0", "GPU-B")});
  CHECK(table.count() == 2);
  CHECK(device_uuid(table, 0) == "GPU-A");
}

TEST_CASE("each field comes from the best source that has it, in any order of updates") {
  DeviceTable table;
  Device plain = make_device(3, vendor::nvidia, "0000:01:00.0");
  plain.name.assign("by the kernel");
  plain.render_minor = 128;
  Device rich = make_device(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  rich.name.assign("by the library");
  update_table(table, Source::drm, {plain});
  CHECK(table.at(0).name.view() == "by the kernel");
  update_table(table, Source::nvml, {rich});
  update_table(table, Source::drm, {plain});
  REQUIRE(table.count() == 1);
  CHECK(table.at(0).name.view() == "by the library");
  CHECK(table.at(0).render_minor == 128);
  CHECK((table.at(0).notes & note::mixed) != 0);
  SUBCASE("the list of a lower-ranked source does not clear a hung state") {
    table.set_state(Source::nvml, State::hung);
    update_table(table, Source::drm, {plain});
    CHECK(table.at(0).state == State::hung);
    update_table(table, Source::nvml, {rich});
    CHECK(table.at(0).state == State::ready);
  }
  SUBCASE("a device that the best source no longer lists is described by the other") {
    update_table(table, Source::nvml, {});
    CHECK(table.at(0).name.view() == "by the kernel");
    CHECK(table.at(0).state == State::ready);
    CHECK(table.at(0).uuid.empty());
  }
}

namespace {

Device make_card(Slot number, Source source, const char* pci, std::uint32_t pci_id) {
  Device device = make_device(number, vendor::nvidia, pci, "");
  device.source = source;
  device.pci_device = pci_id;
  device.pci_subsystem = 0x40fa1458;
  return device;
}

}  // namespace

TEST_CASE("a source without PCI addresses is matched by PCI ids") {
  DeviceTable table;
  update_table(table, Source::nvml,
               {make_card(0, Source::nvml, "0000:01:00.0", 0x2786),
                make_card(1, Source::nvml, "0000:02:00.0", 0x2204)});
  // In another order.
  update_table(table, Source::dxgi,
               {make_card(0, Source::dxgi, "", 0x2204), make_card(1, Source::dxgi, "", 0x2786)});
  REQUIRE(table.count() == 2);
  CHECK(table.find_slot(0, Source::dxgi) == 1);
  CHECK(table.find_slot(1, Source::dxgi) == 0);
}

TEST_CASE("two identical cards are not matched by guessing") {
  DeviceTable table;
  update_table(table, Source::nvml,
               {make_card(0, Source::nvml, "0000:01:00.0", 0x2786),
                make_card(1, Source::nvml, "0000:02:00.0", 0x2786)});
  SUBCASE("if the other source lists both cards") {
    update_table(table, Source::dxgi,
                 {make_card(0, Source::dxgi, "", 0x2786), make_card(1, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 4);
  }
  SUBCASE("if the other source lists one card") {
    update_table(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 3);
  }
}

TEST_CASE("identical cards at two addresses are two devices") {
  DeviceTable table;
  update_table(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
  update_table(table, Source::dxgi, {make_card(0, Source::dxgi, "0000:02:00.0", 0x2786)});
  CHECK(table.count() == 2);
}

TEST_CASE("a card renumbered by a reset stays one device only if another source lists it") {
  DeviceTable table;
  SUBCASE("another source lists the card") {
    update_table(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
    update_table(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update_table(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 1);
    CHECK(table.find_slot(0, Source::dxgi) == 7);
    CHECK(table.at(0).state == State::ready);
    CHECK_FALSE(table.find_index(Source::dxgi, 0));
  }
  SUBCASE("no other source lists the card") {
    update_table(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update_table(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 2);
    CHECK(table.at(0).state == State::lost);
  }
  SUBCASE("the other source has lost the card too") {
    update_table(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
    update_table(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update_table(table, Source::nvml, {});
    update_table(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 2);
  }
}
