// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace hmn;

namespace {

Device make(Slot number, std::uint32_t vendor, const char* pci, const char* uuid = "") {
  Device d;
  d.number = number;
  d.vendor = vendor;
  d.state = State::ready;
  d.pci_bus_id.assign(pci);
  d.uuid.assign(uuid);
  return d;
}

Device make_partition(Slot number, Slot parent, const char* uuid) {
  Device d = make(number, vendor::nvidia, "0000:01:00.0", uuid);
  d.is_part = true;
  d.parent = parent;
  return d;
}

void update(DeviceTable& table, Source from, const std::vector<Device>& listed) {
  std::vector<const Device*> all;
  for (const Device& d : listed) all.push_back(&d);
  table.update(from, all);
}

std::string_view uuid_of(const DeviceTable& t, std::uint32_t index) {
  return t.at(index).uuid.view();
}

}  // namespace

TEST_CASE("NVIDIA's come first in the driver's order, then others by address, then partitions") {
  DeviceTable table;
  update(table, Source::simulated,
         {make(0, vendor::amd, "0000:c1:00.0", "amd-late"),
          make(1, vendor::nvidia, "0000:41:00.0", "nv-first"), make_partition(2, 1, "mig"),
          make(3, vendor::intel, "0000:00:02.0", "intel"),
          make(4, vendor::nvidia, "0000:01:00.0", "nv-second")});
  REQUIRE(table.count() == 5);
  CHECK(uuid_of(table, 0) == "nv-first");
  CHECK(uuid_of(table, 1) == "nv-second");
  CHECK(uuid_of(table, 2) == "intel");
  CHECK(uuid_of(table, 3) == "amd-late");
  CHECK(uuid_of(table, 4) == "mig");
  CHECK(table.at(4).parent_index == 0);
}

TEST_CASE("an index stays with its device; what is gone is lost and may come back") {
  DeviceTable table;
  const Device a = make(0, vendor::nvidia, "0000:01:00.0", "a");
  const Device b = make(1, vendor::nvidia, "0000:02:00.0", "b");
  update(table, Source::nvml, {a, b});
  update(table, Source::nvml, {b});
  CHECK(table.count() == 2);
  CHECK(table.at(0).state == State::lost);
  CHECK(table.at(1).state == State::ready);
  const Device early = make(2, vendor::nvidia, "0000:00:01.0", "c");
  update(table, Source::nvml, {early, b, a});
  CHECK(table.count() == 3);
  CHECK(table.at(0).state == State::ready);
  CHECK(uuid_of(table, 0) == "a");
  CHECK(uuid_of(table, 2) == "c");
}

TEST_CASE("the same card seen by two sources is one device") {
  DeviceTable table;
  update(table, Source::nvml, {make(7, vendor::nvidia, "0000:01:00.0", "GPU-A")});
  update(table, Source::nvidia_smi, {make(0, vendor::nvidia, "00000000:01:00.0", "gpu-a")});
  CHECK(table.count() == 1);
  CHECK(table.slot_of(0, Source::nvml) == Slot{7});
  CHECK(table.slot_of(0, Source::nvidia_smi) == Slot{0});
  CHECK(table.index_of(Source::nvidia_smi, 0) == 0);
  SUBCASE("and is lost only when neither lists it") {
    update(table, Source::nvml, {});
    CHECK(table.at(0).state == State::ready);
    update(table, Source::nvidia_smi, {});
    CHECK(table.at(0).state == State::lost);
  }
}

TEST_CASE("a partition at its parent's address is another device") {
  DeviceTable table;
  update(table, Source::nvml,
         {make(0, vendor::nvidia, "0000:01:00.0", "GPU-A"), make_partition(1, 0, "MIG-A")});
  CHECK(table.count() == 2);
  CHECK(table.find(*parse_device_key("pci:01:00.0")) == 0);
  CHECK(table.find(*parse_device_key("uuid:mig-a")) == 1);
  CHECK(!table.find(*parse_device_key("uuid:MIG-B")));
}

TEST_CASE("a device is divided as long as it has partitions") {
  DeviceTable table;
  const Device parent = make(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  update(table, Source::nvml, {parent, make_partition(1, 0, "MIG-A")});
  CHECK(is_divided(table.at(0)));
  CHECK(!is_divided(table.at(1)));
  table.set_state(Source::nvml, State::hung);
  CHECK(is_divided(table.at(0)));
  update(table, Source::nvml, {parent});
  CHECK(!is_divided(table.at(0)));
}

namespace {

Device make_soc(Slot number, Source from, const char* uuid = "") {
  Device d = make(number, vendor::nvidia, "", uuid);
  d.form = DeviceForm::integrated;
  d.from = from;
  return d;
}

}  // namespace

TEST_CASE("the one GPU of NVIDIA's SoCs, on no bus, is one device") {
  DeviceTable table;
  update(table, Source::nvml, {make_soc(0, Source::nvml, "GPU-A")});
  update(table, Source::tegra, {make_soc(0, Source::tegra)});
  REQUIRE(table.count() == 1);
  CHECK(uuid_of(table, 0) == "GPU-A");
  CHECK(table.slot_of(0, Source::tegra) == 0);
  // Whichever is heard first.
  DeviceTable other;
  update(other, Source::tegra, {make_soc(3, Source::tegra)});
  update(other, Source::nvml, {make_soc(0, Source::nvml, "GPU-A")});
  CHECK(other.count() == 1);
  CHECK(uuid_of(other, 0) == "GPU-A");
}

TEST_CASE("so is Apple's, told by the system and by a command") {
  Device reported = make_soc(0, Source::metal);
  Device printed = make_soc(0, Source::macmon);
  reported.vendor = printed.vendor = vendor::apple;
  DeviceTable table;
  update(table, Source::metal, {reported});
  update(table, Source::macmon, {printed});
  CHECK(table.count() == 1);
  CHECK(table.slot_of(0, Source::macmon) == 0);
}

TEST_CASE("what is no GPU of such an SoC is not taken for it") {
  Device far = make_soc(1, Source::nvml);
  SUBCASE("a card in a slot beside it") {
    far.pci_bus_id.assign("0001:01:00.0");
  }
  SUBCASE("a card whose place is not told") {
    far.form = DeviceForm::discrete;
  }
  SUBCASE("one of no known maker") {
    far.vendor = vendor::unknown;
  }
  SUBCASE("another maker's") {
    far.vendor = vendor::apple;
  }
  SUBCASE("two of one source") {
    far.from = Source::tegra;
  }
  DeviceTable table;
  update(table, Source::tegra, {make_soc(0, Source::tegra)});
  update(table, far.from,
         far.from == Source::tegra ? std::vector<Device>{make_soc(0, Source::tegra), far}
                                   : std::vector<Device>{far});
  CHECK(table.count() == 2);
}

TEST_CASE("cards without a UUID are told apart by address") {
  DeviceTable table;
  update(table, Source::nvidia_smi, {make(0, vendor::nvidia, "0000:01:00.0")});
  update(table, Source::nvml,
         {make(0, vendor::nvidia, "0000:01:00.0", "GPU-A"),
          make(1, vendor::nvidia, "0000:02:00.0", "GPU-B")});
  CHECK(table.count() == 2);
  CHECK(uuid_of(table, 0) == "GPU-A");
}

TEST_CASE("each field comes from the best source that has it, in whatever order they are heard") {
  DeviceTable table;
  Device plain = make(3, vendor::nvidia, "0000:01:00.0");
  plain.name.assign("by the kernel");
  plain.render_minor = 128;
  Device rich = make(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  rich.name.assign("by the library");
  update(table, Source::drm, {plain});
  CHECK(table.at(0).name.view() == "by the kernel");
  update(table, Source::nvml, {rich});
  update(table, Source::drm, {plain});
  REQUIRE(table.count() == 1);
  CHECK(table.at(0).name.view() == "by the library");
  CHECK(table.at(0).render_minor == 128);
  CHECK((table.at(0).notes & note::mixed) != 0);
  SUBCASE("a lesser one's list does not heal what hangs") {
    table.set_state(Source::nvml, State::hung);
    update(table, Source::drm, {plain});
    CHECK(table.at(0).state == State::hung);
    update(table, Source::nvml, {rich});
    CHECK(table.at(0).state == State::ready);
  }
  SUBCASE("what the best source no longer lists is as the other tells it") {
    update(table, Source::nvml, {});
    CHECK(table.at(0).name.view() == "by the kernel");
    CHECK(table.at(0).state == State::ready);
    CHECK(table.at(0).uuid.empty());
  }
}

namespace {

Device make_card(Slot number, Source from, const char* pci, std::uint32_t id) {
  Device d = make(number, vendor::nvidia, pci, "");
  d.from = from;
  d.pci_device = id;
  d.pci_subsystem = 0x40fa1458;
  return d;
}

}  // namespace

TEST_CASE("a source that knows no address is joined by the make of the card") {
  DeviceTable table;
  update(table, Source::nvml,
         {make_card(0, Source::nvml, "0000:01:00.0", 0x2786),
          make_card(1, Source::nvml, "0000:02:00.0", 0x2204)});
  // In another order.
  update(table, Source::dxgi,
         {make_card(0, Source::dxgi, "", 0x2204), make_card(1, Source::dxgi, "", 0x2786)});
  REQUIRE(table.count() == 2);
  CHECK(table.slot_of(0, Source::dxgi) == 1);
  CHECK(table.slot_of(1, Source::dxgi) == 0);
}

TEST_CASE("two cards of one make are not joined by guess") {
  DeviceTable table;
  update(table, Source::nvml,
         {make_card(0, Source::nvml, "0000:01:00.0", 0x2786),
          make_card(1, Source::nvml, "0000:02:00.0", 0x2786)});
  SUBCASE("where the other source lists both") {
    update(table, Source::dxgi,
           {make_card(0, Source::dxgi, "", 0x2786), make_card(1, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 4);
  }
  SUBCASE("nor where it lists one") {
    update(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 3);
  }
}

TEST_CASE("cards of one make at two addresses are two") {
  DeviceTable table;
  update(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
  update(table, Source::dxgi, {make_card(0, Source::dxgi, "0000:02:00.0", 0x2786)});
  CHECK(table.count() == 2);
}

TEST_CASE("a card that a reset gave another number goes on where another source lists it on") {
  DeviceTable table;
  SUBCASE("there it is the same") {
    update(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
    update(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 1);
    CHECK(table.slot_of(0, Source::dxgi) == 7);
    CHECK(table.at(0).state == State::ready);
    CHECK_FALSE(table.index_of(Source::dxgi, 0));
  }
  SUBCASE("alone, it may be another of its make") {
    update(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 2);
    CHECK(table.at(0).state == State::lost);
  }
  SUBCASE("and so where the other source lost it too") {
    update(table, Source::nvml, {make_card(0, Source::nvml, "0000:01:00.0", 0x2786)});
    update(table, Source::dxgi, {make_card(0, Source::dxgi, "", 0x2786)});
    update(table, Source::nvml, {});
    update(table, Source::dxgi, {make_card(7, Source::dxgi, "", 0x2786)});
    CHECK(table.count() == 2);
  }
}
