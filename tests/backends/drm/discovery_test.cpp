// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/discovery.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::drm;
using namespace drm_test;

TEST_CASE("nodes are told from connectors and control nodes") {
  CHECK(parse_node("card0")->what == Node::Kind::card);
  CHECK(parse_node("card12")->number == 12);
  CHECK(parse_node("renderD128")->what == Node::Kind::render);
  CHECK(parse_node("renderD128")->number == 128);
  CHECK(parse_node("accel0")->what == Node::Kind::accel);
  for (const char* other : {"card0-DP-1", "card", "renderD", "controlD64", "version", "", "ttm",
                            "card-1", "card4294967296", "accel0x"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_node(other));
  }
}

TEST_CASE("device numbers") {
  Node n;
  parse_numbers("226:128", n);
  CHECK(n.major == 226);
  CHECK(n.minor == 128);
  Node none;
  for (const char* torn : {"", ":", "226", "226:", ":128", "226:128:1", "a:b"}) {
    CAPTURE(torn);
    parse_numbers(torn, none);
    CHECK(none.major == 0);
  }
}

TEST_CASE("the device behind a link of the class") {
  CHECK(device_part("../../devices/pci0000:00/0000:00:02.0/drm/card0") ==
        "devices/pci0000:00/0000:00:02.0");
  CHECK(device_part("../../devices/platform/soc/fd500000.gpu/drm/renderD128") ==
        "devices/platform/soc/fd500000.gpu");
  CHECK(device_part("../../devices/pci0000:00/0000:00:0b.0/accel/accel0") ==
        "devices/pci0000:00/0000:00:0b.0");
  for (const char* other : {"", "devices", "../../devices/x/card0", "drm/card0"}) {
    CHECK(device_part(other).empty());
  }
}

TEST_CASE("a card is one device with all its nodes") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  std::vector<Card> found;
  CHECK(find_cards(m.tree().sys(), found) == 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].driver_name.view() == "radeon");
  CHECK(found[0].bus.view() == "pci");
  CHECK(found[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(found[0].vendor == vendor::amd);
  CHECK(found[0].pci_device == 0x73bfu);
  CHECK(found[0].pci_subsystem == 0x440e1da2u);
  CHECK(found[0].nodes().size() == 2);
  CHECK(found[0].find(Node::Kind::render)->number == 128);
  CHECK(found[0].find(Node::Kind::accel) == nullptr);
}

TEST_CASE("what only shows pictures is no GPU, and NVIDIA's driver is NVML's") {
  Machine m;
  hmn_fake::PciDevice ast = radeon("0000:05:00.0");
  ast.driver = "ast";
  m.add_pci(ast, {card0});
  hmn_fake::PciDevice nvidia = nouveau();
  nvidia.driver = "nvidia";
  m.add_pci(nvidia, {card1, render129});
  CHECK_FALSE(has_card(m.tree().sys()));
  std::vector<Card> found;
  CHECK(find_cards(m.tree().sys(), found) == 0);
  CHECK(found.empty());
}

// As Linux 6.1 and 7.3 show them: <bus>/<name>, with what is bound to it.
TEST_CASE("what has no hardware behind it is no GPU") {
  const auto add = [](const Machine& m, const std::string& name, const std::string& bus,
                      const std::string& driver) {
    const std::string folder = "devices/" + bus + "/" + name;
    m.tree().directory("sys/" + folder);
    m.tree().link("sys/" + folder + "/subsystem", "../../../bus/" + bus);
    if (!driver.empty())
      m.tree().link("sys/" + folder + "/driver", "../../../bus/" + bus + "/drivers/" + driver);
    m.tree().write("sys/" + folder + "/drm/renderD128/dev", "226:128\n");
    m.tree().link("sys/" + folder + "/drm/renderD128/device", "../../../" + name);
    m.tree().link("sys/class/drm/renderD128", "../../" + folder + "/drm/renderD128");
  };
  const auto count = [](const Machine& m) {
    std::vector<Card> found;
    CHECK(find_cards(m.tree().sys(), found) == 0);
    CHECK(has_card(m.tree().sys()) == !found.empty());
    return found.size();
  };
  for (const char* name : {"vgem", "vkms"}) {
    CAPTURE(name);
    const Machine m;
    add(m, name, "platform", "");
    CHECK(count(m) == 0);
  }
  const Machine faux;
  add(faux, "second-vkms", "faux", "faux_driver");
  CHECK(count(faux) == 0);
  const Machine real;
  add(real, "gpu", "platform", "lima");
  CHECK(count(real) == 1);
}

TEST_CASE("accelerators and platform devices are found") {
  Machine m;
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  hmn_fake::PciDevice npu = radeon("0000:c5:00.1");
  npu.driver = "amdxdna";
  m.add_pci(npu, {accel0});
  std::vector<Card> found;
  CHECK(find_cards(m.tree().sys(), found) == 0);
  REQUIRE(found.size() == 2);
  CHECK(found[0].driver_name.view() == "v3d");
  CHECK(found[0].bus.view() == "platform");
  CHECK(found[0].pci_bus_id.empty());
  CHECK(found[0].vendor == vendor::unknown);
  CHECK(found[1].driver_name.view() == "amdxdna");
  CHECK(found[1].find(Node::Kind::accel)->number == 0);
  CHECK(has_card(m.tree().sys()));
  PlainReading r;
  const auto listed = m.devices(r);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].device_class == DeviceClass::gpu);
  CHECK(listed[1].device_class == DeviceClass::npu);
}

TEST_CASE("a virtio device below its PCI function has that function's address") {
  Machine m;
  hmn_fake::PciDevice function = radeon("0000:00:02.0");
  function.vendor = 0x1af4;
  function.device = 0x1050;
  function.driver = "virtio-pci";
  m.add_pci(function, {});
  const std::string folder = hmn_fake::pci_folder("0000:00:02.0") + "/virtio0";
  m.tree().directory("sys/" + folder + "/drm/renderD128");
  m.tree().link("sys/" + folder + "/driver", "../../../../bus/virtio/drivers/virtio_gpu");
  m.tree().link("sys/" + folder + "/subsystem", "../../../../bus/virtio");
  m.tree().link("sys/class/drm/renderD128", "../../" + folder + "/drm/renderD128");
  std::vector<Card> found;
  CHECK(find_cards(m.tree().sys(), found) == 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].driver_name.view() == "virtio_gpu");
  CHECK(found[0].pci_bus_id.view() == "0000:00:02.0");
  CHECK(found[0].vendor == 0x1af4u);
}

TEST_CASE("a device that is being taken away is gone before its nodes are") {
  Machine m;
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  m.add_pci(radeon(), {render129});
  PlainReading r;
  CHECK(m.devices(r).size() == 2);
  m.tree().remove("sys/devices/platform/fd500000.gpu/subsystem");
  const auto left = m.devices(r);
  REQUIRE(left.size() == 1);
  CHECK(left[0].pci_bus_id.view() == "0000:03:00.0");
}

TEST_CASE("nodes on what carries a virtio device are those of virtio_gpu") {
  Machine m;
  hmn_fake::PciDevice function = radeon("0000:00:02.0");
  function.driver = "virtio-pci";
  m.add_pci(function, {render128});
  m.add_platform("a003e00.virtio_mmio", "virtio-mmio", {render129});
  std::vector<Card> found;
  CHECK(find_cards(m.tree().sys(), found) == 0);
  REQUIRE(found.size() == 2);
  CHECK(found[0].driver_name.view() == "virtio_gpu");
  CHECK(found[1].driver_name.view() == "virtio_gpu");
  PlainReading r;
  for (const Device& d : m.devices(r)) CHECK(d.form == DeviceForm::virtual_device);
  CHECK(m.devices(r).size() == 2);
}

TEST_CASE("a machine without the classes, and one with files that make no sense") {
  hmn_fake::Tree empty;
  std::vector<Card> found;
  CHECK(find_cards(empty.sys(), found) == ENOENT);
  CHECK(found.empty());
  Machine m;
  m.add_pci(radeon(), {render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");
  m.tree().write(folder + "/vendor", "");
  m.tree().write(folder + "/device", "73bf\n");
  m.tree().write(folder + "/subsystem_vendor", "0xzz\n");
  m.tree().write(folder + "/drm/renderD128/dev", "");
  m.tree().remove(folder + "/driver");
  CHECK(find_cards(m.tree().sys(), found) == 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].vendor == vendor::unknown);
  CHECK_FALSE(found[0].pci_device);
  CHECK_FALSE(found[0].pci_subsystem);
  CHECK(found[0].driver_name.empty());
  CHECK(found[0].nodes()[0].major == 0);
}
