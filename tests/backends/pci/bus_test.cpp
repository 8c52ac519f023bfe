// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/pci.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"
#include "model/device.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

std::vector<pci::Gpu> find_gpus(const hmn_fake::Tree& tree, std::uint32_t vendor) {
  pci::VendorCache none{0};
  return pci::list_gpus(tree.proc(), tree.sys(), vendor, none);
}

}  // namespace

TEST_CASE("only the vendor's display controllers are listed, and AMD's accelerators") {
  const hmn_fake::Tree tree;
  CHECK(find_gpus(tree, vendor::nvidia).empty());
  hmn_fake::add_pci_device(tree, {.address = "0000:00:02.0", .vendor = 0x8086});
  hmn_fake::add_pci_device(tree, {.address = "0000:03:00.1", .device_class = 0x040300});
  hmn_fake::add_pci_device(tree, {.address = "0000:04:00.0", .device_class = 0x120000});
  CHECK(find_gpus(tree, vendor::nvidia).empty());
  hmn_fake::add_pci_device(tree,
                           {.address = "0000:05:00.0", .vendor = 0x1002, .device_class = 0x120000});
  hmn_fake::add_pci_device(tree,
                           {.address = "0000:05:00.1", .vendor = 0x1002, .device_class = 0x040300});
  CHECK(find_gpus(tree, vendor::amd).size() == 1);
}

TEST_CASE("GPUs are listed by address, with IDs, driver and sleep state") {
  const hmn_fake::Tree tree;
  hmn_fake::add_pci_device(tree, {.address = "10000:01:00.0", .runtime_status = "suspending"});
  hmn_fake::add_pci_device(tree, {.address = "0000:41:00.0", .device_class = 0x030000});
  hmn_fake::add_pci_device(tree, {.address = "0000:03:00.0",
                                  .device = 0x26b9,
                                  .subsystem_vendor = 0x10de,
                                  .subsystem_device = 0x1851,
                                  .runtime_status = "suspended",
                                  .driver = "nvidia"});
  const auto gpus = find_gpus(tree, vendor::nvidia);
  REQUIRE(gpus.size() == 3);
  CHECK(to_text(gpus[0].address).view() == "0000:03:00.0");
  CHECK(gpus[0].device == 0x26b9);
  CHECK(gpus[0].subsystem == 0x185110de);
  CHECK(gpus[0].driver.view() == "nvidia");
  CHECK(gpus[0].is_asleep);
  CHECK(to_text(gpus[1].address).view() == "0000:41:00.0");
  CHECK(gpus[1].subsystem == 0);
  CHECK(gpus[1].driver.empty());
  CHECK_FALSE(gpus[1].is_asleep);
  CHECK(to_text(gpus[2].address).view() == "00010000:01:00.0");
  CHECK(gpus[2].is_asleep);
}

TEST_CASE("the bus is not scanned again while the list of vendors is recent") {
  const hmn_fake::Tree tree;
  hmn_fake::add_pci_device(tree, {.address = "0000:41:02.1"});
  tree.write("proc/bus/pci/devices", "4111\t80861234\t10\n");
  pci::VendorCache vendors{0};
  CHECK(pci::list_gpus(tree.proc(), tree.sys(), vendor::nvidia, vendors).empty());
  tree.write("proc/bus/pci/devices", "4111\t10de2684\t10\n");
  CHECK(find_gpus(tree, vendor::nvidia).size() == 1);
  platform::sleep_ns(pci::max_list_age_ns);
  CHECK(pci::list_gpus(tree.proc(), tree.sys(), vendor::nvidia, vendors).size() == 1);
}
