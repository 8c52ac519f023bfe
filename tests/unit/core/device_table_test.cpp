// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace hmn;

namespace {

device make(slot number, std::uint32_t vendor, const char* pci, const char* uuid = "") {
  device d;
  d.number = number;
  d.vendor = vendor;
  d.state = state::ready;
  d.pci_bus_id.assign(pci);
  d.uuid.assign(uuid);
  return d;
}

device make_partition(slot number, slot parent, const char* uuid) {
  device d = make(number, vendor::nvidia, "0000:01:00.0", uuid);
  d.is_part = true;
  d.parent = parent;
  return d;
}

void update(device_table& table, source from, const std::vector<device>& listed) {
  std::vector<const device*> all;
  for (const device& d : listed) all.push_back(&d);
  table.update(from, all);
}

std::string_view uuid_of(const device_table& t, std::uint32_t index) {
  return t.at(index).uuid.view();
}

}  // namespace

TEST_CASE("NVIDIA's come first in the driver's order, then others by address, then partitions") {
  device_table table;
  update(table, source::simulated,
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
  device_table table;
  const device a = make(0, vendor::nvidia, "0000:01:00.0", "a");
  const device b = make(1, vendor::nvidia, "0000:02:00.0", "b");
  update(table, source::nvml, {a, b});
  update(table, source::nvml, {b});
  CHECK(table.count() == 2);
  CHECK(table.at(0).state == state::lost);
  CHECK(table.at(1).state == state::ready);
  const device early = make(2, vendor::nvidia, "0000:00:01.0", "c");
  update(table, source::nvml, {early, b, a});
  CHECK(table.count() == 3);
  CHECK(table.at(0).state == state::ready);
  CHECK(uuid_of(table, 0) == "a");
  CHECK(uuid_of(table, 2) == "c");
}

TEST_CASE("the same card seen by two sources is one device") {
  device_table table;
  update(table, source::nvml, {make(7, vendor::nvidia, "0000:01:00.0", "GPU-A")});
  update(table, source::nvidia_smi, {make(0, vendor::nvidia, "00000000:01:00.0", "gpu-a")});
  CHECK(table.count() == 1);
  CHECK(table.slot_of(0, source::nvml) == slot{7});
  CHECK(table.slot_of(0, source::nvidia_smi) == slot{0});
  CHECK(table.index_of(source::nvidia_smi, 0) == 0);
  SUBCASE("and is lost only when neither lists it") {
    update(table, source::nvml, {});
    CHECK(table.at(0).state == state::ready);
    update(table, source::nvidia_smi, {});
    CHECK(table.at(0).state == state::lost);
  }
}

TEST_CASE("a partition at its parent's address is another device") {
  device_table table;
  update(table, source::nvml,
         {make(0, vendor::nvidia, "0000:01:00.0", "GPU-A"), make_partition(1, 0, "MIG-A")});
  CHECK(table.count() == 2);
  CHECK(table.find(*parse_device_key("pci:01:00.0")) == 0);
  CHECK(table.find(*parse_device_key("uuid:mig-a")) == 1);
  CHECK(!table.find(*parse_device_key("uuid:MIG-B")));
}

TEST_CASE("a device is divided as long as it has partitions") {
  device_table table;
  const device parent = make(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  update(table, source::nvml, {parent, make_partition(1, 0, "MIG-A")});
  CHECK(is_divided(table.at(0)));
  CHECK(!is_divided(table.at(1)));
  table.set_state(source::nvml, state::hung);
  CHECK(is_divided(table.at(0)));
  update(table, source::nvml, {parent});
  CHECK(!is_divided(table.at(0)));
}

namespace {

device make_soc(slot number, source from, const char* uuid = "") {
  device d = make(number, vendor::nvidia, "", uuid);
  d.form = device_form::integrated;
  d.from = from;
  return d;
}

}  // namespace

TEST_CASE("the one GPU of NVIDIA's SoCs, on no bus, is one device") {
  device_table table;
  update(table, source::nvml, {make_soc(0, source::nvml, "GPU-A")});
  update(table, source::tegra, {make_soc(0, source::tegra)});
  REQUIRE(table.count() == 1);
  CHECK(uuid_of(table, 0) == "GPU-A");
  CHECK(table.slot_of(0, source::tegra) == 0);
  // Whichever is heard first.
  device_table other;
  update(other, source::tegra, {make_soc(3, source::tegra)});
  update(other, source::nvml, {make_soc(0, source::nvml, "GPU-A")});
  CHECK(other.count() == 1);
  CHECK(uuid_of(other, 0) == "GPU-A");
}

TEST_CASE("so is Apple's, told by the system and by a command") {
  device reported = make_soc(0, source::metal);
  device printed = make_soc(0, source::macmon);
  reported.vendor = printed.vendor = vendor::apple;
  device_table table;
  update(table, source::metal, {reported});
  update(table, source::macmon, {printed});
  CHECK(table.count() == 1);
  CHECK(table.slot_of(0, source::macmon) == 0);
}

TEST_CASE("what is no GPU of such an SoC is not taken for it") {
  device far = make_soc(1, source::nvml);
  SUBCASE("a card in a slot beside it") {
    far.pci_bus_id.assign("0001:01:00.0");
  }
  SUBCASE("a card whose place is not told") {
    far.form = device_form::discrete;
  }
  SUBCASE("one of no known maker") {
    far.vendor = vendor::unknown;
  }
  SUBCASE("another maker's") {
    far.vendor = vendor::apple;
  }
  SUBCASE("two of one source") {
    far.from = source::tegra;
  }
  device_table table;
  update(table, source::tegra, {make_soc(0, source::tegra)});
  update(table, far.from,
         far.from == source::tegra ? std::vector<device>{make_soc(0, source::tegra), far}
                                   : std::vector<device>{far});
  CHECK(table.count() == 2);
}

TEST_CASE("cards without a UUID are told apart by address") {
  device_table table;
  update(table, source::nvidia_smi, {make(0, vendor::nvidia, "0000:01:00.0")});
  update(table, source::nvml,
         {make(0, vendor::nvidia, "0000:01:00.0", "GPU-A"),
          make(1, vendor::nvidia, "0000:02:00.0", "GPU-B")});
  CHECK(table.count() == 2);
  CHECK(uuid_of(table, 0) == "GPU-A");
}

TEST_CASE("each field comes from the best source that has it, in whatever order they are heard") {
  device_table table;
  device plain = make(3, vendor::nvidia, "0000:01:00.0");
  plain.name.assign("by the kernel");
  plain.render_minor = 128;
  device rich = make(0, vendor::nvidia, "0000:01:00.0", "GPU-A");
  rich.name.assign("by the library");
  update(table, source::drm, {plain});
  CHECK(table.at(0).name.view() == "by the kernel");
  update(table, source::nvml, {rich});
  update(table, source::drm, {plain});
  REQUIRE(table.count() == 1);
  CHECK(table.at(0).name.view() == "by the library");
  CHECK(table.at(0).render_minor == 128);
  CHECK((table.at(0).notes & note::mixed) != 0);
  SUBCASE("a lesser one's list does not heal what hangs") {
    table.set_state(source::nvml, state::hung);
    update(table, source::drm, {plain});
    CHECK(table.at(0).state == state::hung);
    update(table, source::nvml, {rich});
    CHECK(table.at(0).state == state::ready);
  }
  SUBCASE("what the best source no longer lists is as the other tells it") {
    update(table, source::nvml, {});
    CHECK(table.at(0).name.view() == "by the kernel");
    CHECK(table.at(0).state == state::ready);
    CHECK(table.at(0).uuid.empty());
  }
}

namespace {

device make_card(slot number, source from, const char* pci, std::uint32_t id) {
  device d = make(number, vendor::nvidia, pci, "");
  d.from = from;
  d.pci_device = id;
  d.pci_subsystem = 0x40fa1458;
  return d;
}

}  // namespace

TEST_CASE("a source that knows no address is joined by the make of the card") {
  device_table table;
  update(table, source::nvml,
         {make_card(0, source::nvml, "0000:01:00.0", 0x2786),
          make_card(1, source::nvml, "0000:02:00.0", 0x2204)});
  // In another order.
  update(table, source::dxgi,
         {make_card(0, source::dxgi, "", 0x2204), make_card(1, source::dxgi, "", 0x2786)});
  REQUIRE(table.count() == 2);
  CHECK(table.slot_of(0, source::dxgi) == 1);
  CHECK(table.slot_of(1, source::dxgi) == 0);
}

TEST_CASE("two cards of one make are not joined by guess") {
  device_table table;
  update(table, source::nvml,
         {make_card(0, source::nvml, "0000:01:00.0", 0x2786),
          make_card(1, source::nvml, "0000:02:00.0", 0x2786)});
  SUBCASE("where the other source lists both") {
    update(table, source::dxgi,
           {make_card(0, source::dxgi, "", 0x2786), make_card(1, source::dxgi, "", 0x2786)});
    CHECK(table.count() == 4);
  }
  SUBCASE("nor where it lists one") {
    update(table, source::dxgi, {make_card(0, source::dxgi, "", 0x2786)});
    CHECK(table.count() == 3);
  }
}

TEST_CASE("cards of one make at two addresses are two") {
  device_table table;
  update(table, source::nvml, {make_card(0, source::nvml, "0000:01:00.0", 0x2786)});
  update(table, source::dxgi, {make_card(0, source::dxgi, "0000:02:00.0", 0x2786)});
  CHECK(table.count() == 2);
}

TEST_CASE("a card that a reset gave another number goes on where another source lists it on") {
  device_table table;
  SUBCASE("there it is the same") {
    update(table, source::nvml, {make_card(0, source::nvml, "0000:01:00.0", 0x2786)});
    update(table, source::dxgi, {make_card(0, source::dxgi, "", 0x2786)});
    update(table, source::dxgi, {make_card(7, source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 1);
    CHECK(table.slot_of(0, source::dxgi) == 7);
    CHECK(table.at(0).state == state::ready);
    CHECK_FALSE(table.index_of(source::dxgi, 0));
  }
  SUBCASE("alone, it may be another of its make") {
    update(table, source::dxgi, {make_card(0, source::dxgi, "", 0x2786)});
    update(table, source::dxgi, {make_card(7, source::dxgi, "", 0x2786)});
    REQUIRE(table.count() == 2);
    CHECK(table.at(0).state == state::lost);
  }
  SUBCASE("and so where the other source lost it too") {
    update(table, source::nvml, {make_card(0, source::nvml, "0000:01:00.0", 0x2786)});
    update(table, source::dxgi, {make_card(0, source::dxgi, "", 0x2786)});
    update(table, source::nvml, {});
    update(table, source::dxgi, {make_card(7, source::dxgi, "", 0x2786)});
    CHECK(table.count() == 2);
  }
}
