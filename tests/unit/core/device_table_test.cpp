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
  d.kind = device_kind::partition;
  d.parent = parent;
  return d;
}

void update(device_table& table, source from, const std::vector<device>& listed) {
  std::vector<const device*> all;
  for (const device& d : listed) all.push_back(&d);
  table.update(from, all);
}

std::string_view uuid_of(const device_table& t, std::uint32_t index) {
  return t.at(index).value.uuid.view();
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
  CHECK(table.at(0).value.state == state::lost);
  CHECK(table.at(1).value.state == state::ready);
  const device early = make(2, vendor::nvidia, "0000:00:01.0", "c");
  update(table, source::nvml, {early, b, a});
  CHECK(table.count() == 3);
  CHECK(table.at(0).value.state == state::ready);
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
    CHECK(table.at(0).value.state == state::ready);
    update(table, source::nvidia_smi, {});
    CHECK(table.at(0).value.state == state::lost);
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

TEST_CASE("cards without a UUID are told apart by address") {
  device_table table;
  update(table, source::nvidia_smi, {make(0, vendor::nvidia, "0000:01:00.0")});
  update(table, source::nvml,
         {make(0, vendor::nvidia, "0000:01:00.0", "GPU-A"),
          make(1, vendor::nvidia, "0000:02:00.0", "GPU-B")});
  CHECK(table.count() == 2);
  CHECK(uuid_of(table, 0) == "GPU-A");
}
