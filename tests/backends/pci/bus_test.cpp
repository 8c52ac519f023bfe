// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pci/bus.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"
#include "model/device.hpp"

using namespace hmn;

namespace {

std::vector<pci::gpu> found_in(const hmn_fake::tree& tree, std::uint32_t vendor) {
  return pci::gpus_on_bus(tree.proc(), tree.sys(), vendor);
}

}  // namespace

TEST_CASE("only display controllers of the vendor count, and AMD's accelerators") {
  const hmn_fake::tree tree;
  CHECK(found_in(tree, vendor::nvidia).empty());
  hmn_fake::add_pci_device(tree, {.address = "0000:00:02.0", .vendor = 0x8086});
  hmn_fake::add_pci_device(tree, {.address = "0000:03:00.1", .device_class = 0x040300});
  hmn_fake::add_pci_device(tree, {.address = "0000:04:00.0", .device_class = 0x120000});
  CHECK(found_in(tree, vendor::nvidia).empty());
  hmn_fake::add_pci_device(tree,
                           {.address = "0000:05:00.0", .vendor = 0x1002, .device_class = 0x120000});
  hmn_fake::add_pci_device(tree,
                           {.address = "0000:05:00.1", .vendor = 0x1002, .device_class = 0x040300});
  CHECK(found_in(tree, vendor::amd).size() == 1);
}

TEST_CASE("by address, with ids, driver and whether it sleeps") {
  const hmn_fake::tree tree;
  hmn_fake::add_pci_device(tree, {.address = "10000:01:00.0", .runtime_status = "suspending"});
  hmn_fake::add_pci_device(tree, {.address = "0000:41:00.0", .device_class = 0x030000});
  hmn_fake::add_pci_device(tree, {.address = "0000:03:00.0",
                                  .device = 0x26b9,
                                  .subsystem_vendor = 0x10de,
                                  .subsystem_device = 0x1851,
                                  .runtime_status = "suspended",
                                  .driver = "nvidia"});
  const auto found = found_in(tree, vendor::nvidia);
  REQUIRE(found.size() == 3);
  CHECK(to_text(found[0].address).view() == "0000:03:00.0");
  CHECK(found[0].device == 0x26b9);
  CHECK(found[0].subsystem == 0x185110de);
  CHECK(found[0].driver.view() == "nvidia");
  CHECK(found[0].is_asleep);
  CHECK(to_text(found[1].address).view() == "0000:41:00.0");
  CHECK(found[1].subsystem == 0);
  CHECK(found[1].driver.empty());
  CHECK_FALSE(found[1].is_asleep);
  CHECK(to_text(found[2].address).view() == "00010000:01:00.0");
  CHECK(found[2].is_asleep);
}

// As drivers/pci/proc.c prints it: bus and function, vendor and device, the interrupt, addresses
// and sizes, the driver.
static void set_kernel_list(const hmn_fake::tree& tree, const std::string& ids) {
  std::string text;
  for (std::size_t at = 0; at < ids.size(); at = ids.find('\n', at) + 1) {
    text += ids.substr(at, ids.find('\n', at) - at) + "\t10";
    for (int i = 0; i < 14; ++i) text += "\t               0";
    text += "\tpcieport\n";
  }
  tree.write("proc/bus/pci/devices", text);
}

TEST_CASE("the kernel's list shows whether a vendor has functions") {
  const hmn_fake::tree tree;
  hmn_fake::add_pci_device(tree, {.address = "0000:41:02.1"});
  set_kernel_list(tree, "0010\t80861234\n4111\t10de2684\n4112\t80861234\n");
  CHECK(found_in(tree, vendor::nvidia).size() == 1);
  hmn_fake::add_pci_device(tree, hmn_fake::amd_card("0000:03:00.0"));
  CHECK(found_in(tree, vendor::amd).empty());
  set_kernel_list(tree, "0010\t80861234\n4111\t10de2684\n0300\t100273ff\n");
  CHECK(found_in(tree, vendor::amd).size() == 1);
}

TEST_CASE("a list that is empty, broken or of another machine is not one") {
  const hmn_fake::tree tree;
  hmn_fake::add_pci_device(tree, {.address = "0000:41:02.1"});
  for (const char* list : {"", "4111\n", "no list\n", "4111 10de2684\n"}) {
    tree.write("proc/bus/pci/devices", list);
    CHECK(found_in(tree, vendor::nvidia).size() == 1);
  }
  set_kernel_list(tree, "0010\t80861234\n");
  CHECK(found_in(tree, vendor::nvidia).empty());
  const hmn_fake::tree other;
  CHECK(pci::gpus_on_bus(other.proc(), tree.sys(), vendor::nvidia).size() == 1);
  set_kernel_list(other, "0010\t80861234\n");
  CHECK(pci::gpus_on_bus(other.proc(), tree.sys(), vendor::nvidia).size() == 1);
}
