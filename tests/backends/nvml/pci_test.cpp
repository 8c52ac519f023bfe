// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/pci.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"

using namespace hmn::nvml;

TEST_CASE("PCI addresses are read in every spelling") {
  CHECK(parse_pci_address("00000000:01:00.0") == pci_address{0, 1, 0, 0});
  CHECK(parse_pci_address("0000:0A:1f.7") == pci_address{0, 10, 31, 7});
  CHECK(parse_pci_address("10000:e1:00.0") == pci_address{0x10000, 0xe1, 0, 0});
  for (const char* wrong : {"", "0000:01:00", "0000:01:00.8", "0000:01:20.0", "000000000:01:00.0",
                            "0000:101:00.0", "0000:01:00.0 ", " 0000:01:00.0", "-1:01:00.0",
                            "0000:01:00.", "01:00.0", "0x0:01:00.0", "GPU-0"}) {
    CHECK_MESSAGE(!parse_pci_address(wrong), wrong);
  }
}

TEST_CASE("PCI addresses are written in lower case, with four digits of domain where they fit") {
  CHECK(to_text({0, 0x0a, 0x1f, 7}).view() == "0000:0a:1f.7");
  CHECK(to_text({0xFFFF, 1, 0, 0}).view() == "ffff:01:00.0");
  CHECK(to_text({0x10000, 1, 0, 0}).view() == "00010000:01:00.0");
  CHECK(system_name({0x10000, 1, 0, 0}).view() == "10000:01:00.0");
}

TEST_CASE("the address is found in the struct of any generation") {
  pci_info newest{};
  std::string_view("00000000:C1:00.0").copy(newest.bus_id, sizeof(newest.bus_id));
  CHECK(address_of(newest) == pci_address{0, 0xc1, 0, 0});
  pci_info oldest{};
  std::string_view("0000:C1:00.0").copy(oldest.bus_id_legacy, sizeof(oldest.bus_id_legacy));
  CHECK(address_of(oldest) == pci_address{0, 0xc1, 0, 0});
  CHECK(!address_of(pci_info{}));
}

TEST_CASE("only NVIDIA's display controllers count") {
  const hmn_fake::tree tree;
  CHECK_FALSE(has_nvidia_display(tree.sys()));
  hmn_fake::add_pci_device(tree, {.address = "0000:00:02.0", .vendor = 0x8086});
  hmn_fake::add_pci_device(tree, {.address = "0000:03:00.1", .device_class = 0x040300});
  CHECK_FALSE(has_nvidia_display(tree.sys()));
  hmn_fake::add_pci_device(tree, {.address = "0000:41:00.0", .device_class = 0x030000});
  hmn_fake::add_pci_device(
      tree, {.address = "0000:03:00.0", .driver = "nvidia", .drm_nodes = {"card1", "renderD129"}});
  const auto found = nvidia_displays(tree.sys());
  REQUIRE(found.size() == 2);
  CHECK(to_text(found[0].address).view() == "0000:03:00.0");
  CHECK(found[0].driver == "nvidia");
  CHECK(found[1].driver.empty());
  CHECK(render_minor(tree.sys(), found[0].address) == 129);
  CHECK(!render_minor(tree.sys(), found[1].address));
}
