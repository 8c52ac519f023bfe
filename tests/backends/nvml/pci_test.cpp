// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/device.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"

using namespace hmn;
using namespace hmn::nvml;

TEST_CASE("the PCI address is read from every generation of the struct") {
  PciInfo newest{};
  std::string_view("00000000:C1:00.0").copy(newest.bus_id, sizeof(newest.bus_id));
  CHECK(extract_address(newest) == PciAddress{0, 0xc1, 0, 0});
  PciInfo oldest{};
  std::string_view("0000:C1:00.0").copy(oldest.bus_id_legacy, sizeof(oldest.bus_id_legacy));
  CHECK(extract_address(oldest) == PciAddress{0, 0xc1, 0, 0});
  CHECK(!extract_address(PciInfo{}));
}

TEST_CASE("the render node of a PCI device is found in sysfs") {
  const hmn_fake::Tree tree;
  hmn_fake::add_pci_device(tree, {.address = "0000:41:00.0", .device_class = 0x030000});
  hmn_fake::add_pci_device(
      tree, {.address = "0000:03:00.0", .driver = "nvidia", .drm_nodes = {"card1", "renderD129"}});
  CHECK(find_render_minor(tree.sys(), {0, 3, 0, 0}) == 129);
  CHECK(!find_render_minor(tree.sys(), {0, 0x41, 0, 0}));
}
