// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"

#include <doctest/doctest.h>

#include "cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace hmn::amdgpu;
using namespace amdgpu_test;
using namespace drm_test;

TEST_CASE("a card reports name, UUID, driver version, NUMA node and PCI address") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  card.numa_node = 1;
  machine.add_pci(card, {card0, render128});
  machine.tree().write("sys/module/amdgpu/version", "6.16.13\n");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].source == Source::amdgpu);
  CHECK(devices[0].state == State::ready);
  CHECK(devices[0].form == DeviceForm::discrete);
  CHECK(devices[0].memory_kind == MemoryKind::dedicated);
  CHECK(devices[0].name.view() == "AMD Radeon PRO W6800");
  CHECK(devices[0].uuid.view() == "GPU-946d7e1ef9b172dd");
  CHECK(devices[0].driver_version.view() == "6.16.13");
  CHECK(devices[0].numa_node == 1u);
  CHECK(devices[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(devices[0].render_minor == 128u);
  CHECK_FALSE(devices[0].parent);
  CHECK(reading.diagnostics.empty());
  CHECK(machine.source().describe(Source::amdgpu).state == State::ready);
}

TEST_CASE("an APU is recognized by its sensors") {
  Machine machine;
  machine.add_pci(phoenix(), {card0, render128});
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].form == DeviceForm::integrated);
  CHECK(devices[0].memory_kind == MemoryKind::unified);
  CHECK(devices[0].uuid.empty());
  CHECK_FALSE(devices[0].numa_node);  // -1: none
}

TEST_CASE("without those sensors the form is unknown, and it is determined again later") {
  Machine machine;
  hmn_fake::PciDevice card = navi();
  std::erase_if(card.files, [](const auto& f) { return f.first.starts_with("hwmon/"); });
  machine.add_pci(card, {card0, render128});
  PlainReading reading;
  CHECK(machine.devices(reading)[0].form == DeviceForm::unknown);
  CHECK(machine.devices(reading)[0].memory_kind == MemoryKind::unknown);
  machine.tree().write("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/hwmon/hwmon4/name",
                       "amdgpu\n");
  machine.tree().write("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/hwmon/hwmon4/temp1_crit",
                       "100000\n");
  CHECK(machine.devices(reading)[0].form == DeviceForm::discrete);
}

TEST_CASE("a UUID is the unique id in hex, without a prefix") {
  CHECK(format_uuid("946d7e1ef9b172dd").view() == "GPU-946d7e1ef9b172dd");
  CHECK(format_uuid("1f").view() == "GPU-000000000000001f");
  for (const char* id : {"", "0", "0000000000000000", "0x12", "xyz", "946d7e1ef9b172dd0"}) {
    CAPTURE(id);
    CHECK(format_uuid(id).empty());
  }
}

TEST_CASE("the architecture is the compiler's target") {
  CHECK(format_architecture(90402).view() == "gfx942");
  CHECK(format_architecture(90010).view() == "gfx90a");
  CHECK(format_architecture(110003).view() == "gfx1103");
  CHECK(format_architecture(120001).view() == "gfx1201");
  CHECK(format_architecture(0).empty());
}

TEST_CASE("a marketing name is looked up by device and revision") {
  constexpr std::string_view table =
      "# List of AMDGPU IDs\n1.0.0\n15BF,\t00,\tAMD Radeon One\n15BF,\t01,\tAMD Radeon Two, LE\r\n"
      "broken\n1,\n";
  CHECK(find_marketing_name(table, 0x15bf, 0) == "AMD Radeon One");
  CHECK(find_marketing_name(table, 0x15bf, 1) == "AMD Radeon Two, LE");
  CHECK(find_marketing_name(table, 0x15bf, 2).empty());
  CHECK(find_marketing_name("", 0x15bf, 0).empty());
}

TEST_CASE("if amdgpu is disabled, its card is served by the generic drm source") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  Settings settings = machine.settings();
  settings.disabled_sources = source_bit(Source::amdgpu);
  drm::DrmSource source(settings);
  PlainReading reading;
  std::vector<Device> devices;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].source == Source::drm);
  CHECK_FALSE(source.answers_for(Source::amdgpu));
  CHECK_FALSE(source.answers_for(Source::kfd));
  PoolList pools;
  CHECK(source.memory(0, pools, reading).failure().code == Status::unsupported);
}

TEST_CASE("driver and address of a copied tree without links are read from uevent") {
  Machine machine(false, false);
  const std::string folder = "sys/class/drm/renderD128/device/";
  for (const auto& [name, text] : navi().files) machine.tree().write(folder + name, text);
  machine.tree().write(
      folder + "uevent",
      "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:0c:00.0\n");
  machine.tree().write(folder + "vendor", "0x1002\n");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].source == Source::amdgpu);
  CHECK(devices[0].pci_bus_id.view() == "0000:0c:00.0");
  CHECK(devices[0].vendor == vendor::amd);
}
