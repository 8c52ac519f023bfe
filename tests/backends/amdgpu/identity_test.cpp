// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"

#include <doctest/doctest.h>

#include "cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace hmn::amdgpu;
using namespace amdgpu_test;
using namespace drm_test;

TEST_CASE("who a card is") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.numa_node = 1;
  m.add_pci(d, {card0, render128});
  m.tree().write("sys/module/amdgpu/version", "6.16.13\n");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == Source::amdgpu);
  CHECK(found[0].state == State::ready);
  CHECK(found[0].form == DeviceForm::discrete);
  CHECK(found[0].memory_kind == MemoryKind::dedicated);
  CHECK(found[0].name.view() == "AMD Radeon PRO W6800");
  CHECK(found[0].uuid.view() == "GPU-946d7e1ef9b172dd");
  CHECK(found[0].driver_version.view() == "6.16.13");
  CHECK(found[0].numa_node == 1u);
  CHECK(found[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(found[0].render_minor == 128u);
  CHECK_FALSE(found[0].parent);
  CHECK(r.diagnostics.empty());
  CHECK(m.source().describe(Source::amdgpu).state == State::ready);
}

TEST_CASE("a part of a processor is told by its sensors") {
  Machine m;
  m.add_pci(phoenix(), {card0, render128});
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].form == DeviceForm::integrated);
  CHECK(found[0].memory_kind == MemoryKind::unified);
  CHECK(found[0].uuid.empty());
  CHECK_FALSE(found[0].numa_node);  // -1: none
}

TEST_CASE("without such sensors the kind is not known, and not remembered as that") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  std::erase_if(d.files, [](const auto& f) { return f.first.starts_with("hwmon/"); });
  m.add_pci(d, {card0, render128});
  PlainReading r;
  CHECK(m.devices(r)[0].form == DeviceForm::unknown);
  CHECK(m.devices(r)[0].memory_kind == MemoryKind::unknown);
  m.tree().write("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/hwmon/hwmon4/name", "amdgpu\n");
  m.tree().write("sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/hwmon/hwmon4/temp1_crit",
                 "100000\n");
  CHECK(m.devices(r)[0].form == DeviceForm::discrete);
}

TEST_CASE("a unique id is hex without a prefix") {
  CHECK(uuid_of("946d7e1ef9b172dd").view() == "GPU-946d7e1ef9b172dd");
  CHECK(uuid_of("1f").view() == "GPU-000000000000001f");
  for (const char* none : {"", "0", "0000000000000000", "0x12", "xyz", "946d7e1ef9b172dd0"}) {
    CAPTURE(none);
    CHECK(uuid_of(none).empty());
  }
}

TEST_CASE("the architecture is the compiler's target") {
  CHECK(architecture_of(90402).view() == "gfx942");
  CHECK(architecture_of(90010).view() == "gfx90a");
  CHECK(architecture_of(110003).view() == "gfx1103");
  CHECK(architecture_of(120001).view() == "gfx1201");
  CHECK(architecture_of(0).empty());
}

TEST_CASE("the table of names goes by device and revision") {
  constexpr std::string_view table =
      "# List of AMDGPU IDs\n1.0.0\n15BF,\t00,\tAMD Radeon One\n15BF,\t01,\tAMD Radeon Two, LE\r\n"
      "broken\n1,\n";
  CHECK(find_marketing_name(table, 0x15bf, 0) == "AMD Radeon One");
  CHECK(find_marketing_name(table, 0x15bf, 1) == "AMD Radeon Two, LE");
  CHECK(find_marketing_name(table, 0x15bf, 2).empty());
  CHECK(find_marketing_name("", 0x15bf, 0).empty());
}

TEST_CASE("an amdgpu card without the driver of its own is served by what any driver tells") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  Settings s = m.settings();
  s.sources_off = bit_of(Source::amdgpu);
  drm::DrmSource any(s);
  PlainReading r;
  std::vector<Device> found;
  REQUIRE(any.prepare(r));
  REQUIRE(any.devices(found, r));
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == Source::drm);
  CHECK_FALSE(any.answers_for(Source::amdgpu));
  CHECK_FALSE(any.answers_for(Source::kfd));
  Pools p;
  CHECK(any.memory(0, p, r).why().code == Status::unsupported);
}

TEST_CASE("a copied tree without links tells driver and address in uevent") {
  Machine m(false, false);
  const std::string folder = "sys/class/drm/renderD128/device/";
  for (const auto& [name, text] : navi().files) m.tree().write(folder + name, text);
  m.tree().write(folder + "uevent",
                 "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:0c:00.0\n");
  m.tree().write(folder + "vendor", "0x1002\n");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == Source::amdgpu);
  CHECK(found[0].pci_bus_id.view() == "0000:0c:00.0");
  CHECK(found[0].vendor == vendor::amd);
}
