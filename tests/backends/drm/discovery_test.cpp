// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/discovery.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::drm;
using namespace drm_test;

TEST_CASE("nodes are distinguished from connectors and control nodes") {
  CHECK(parse_node("card0")->kind == Node::Kind::card);
  CHECK(parse_node("card12")->number == 12);
  CHECK(parse_node("renderD128")->kind == Node::Kind::render);
  CHECK(parse_node("renderD128")->number == 128);
  CHECK(parse_node("accel0")->kind == Node::Kind::accel);
  for (const char* name : {"card0-DP-1", "card", "renderD", "controlD64", "version", "", "ttm",
                           "card-1", "card4294967296", "accel0x"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_node(name));
  }
}

TEST_CASE("device numbers are parsed from the dev file") {
  Node node;
  parse_numbers("226:128", node);
  CHECK(node.major == 226);
  CHECK(node.minor == 128);
  Node none;
  for (const char* torn : {"", ":", "226", "226:", ":128", "226:128:1", "a:b"}) {
    CAPTURE(torn);
    parse_numbers(torn, none);
    CHECK(none.major == 0);
  }
}

TEST_CASE("the device path is cut from the link of the class") {
  CHECK(device_part("../../devices/pci0000:00/0000:00:02.0/drm/card0") ==
        "devices/pci0000:00/0000:00:02.0");
  CHECK(device_part("../../devices/platform/soc/fd500000.gpu/drm/renderD128") ==
        "devices/platform/soc/fd500000.gpu");
  CHECK(device_part("../../devices/pci0000:00/0000:00:0b.0/accel/accel0") ==
        "devices/pci0000:00/0000:00:0b.0");
  for (const char* path : {"", "devices", "../../devices/x/card0", "drm/card0"}) {
    CHECK(device_part(path).empty());
  }
}

TEST_CASE("a card is one device with all its nodes") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  std::vector<Card> cards;
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  REQUIRE(cards.size() == 1);
  CHECK(cards[0].driver_name.view() == "radeon");
  CHECK(cards[0].bus.view() == "pci");
  CHECK(cards[0].pci_bus_id.view() == "0000:03:00.0");
  CHECK(cards[0].vendor == vendor::amd);
  CHECK(cards[0].pci_device == 0x73bfu);
  CHECK(cards[0].pci_subsystem == 0x440e1da2u);
  CHECK(cards[0].nodes().size() == 2);
  CHECK(cards[0].find(Node::Kind::render)->number == 128);
  CHECK(cards[0].find(Node::Kind::accel) == nullptr);
}

TEST_CASE("drm: display-only devices and cards of the nvidia driver are not listed") {
  Machine machine;
  hmn_fake::PciDevice ast = radeon("0000:05:00.0");
  ast.driver = "ast";
  machine.add_pci(ast, {card0});
  hmn_fake::PciDevice nvidia = nouveau();
  nvidia.driver = "nvidia";
  machine.add_pci(nvidia, {card1, render129});
  CHECK_FALSE(has_card(machine.tree().sys()));
  std::vector<Card> cards;
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  CHECK(cards.empty());
}

// As in Linux 6.1 and 7.3: <bus>/<name> and the bound driver.
TEST_CASE("drm: a render node without a PCI or platform device is not listed") {
  const auto add_node = [](const Machine& machine, const std::string& name, const std::string& bus,
                           const std::string& driver) {
    const std::string folder = "devices/" + bus + "/" + name;
    machine.tree().directory("sys/" + folder);
    machine.tree().link("sys/" + folder + "/subsystem", "../../../bus/" + bus);
    if (!driver.empty())
      machine.tree().link("sys/" + folder + "/driver",
                          "../../../bus/" + bus + "/drivers/" + driver);
    machine.tree().write("sys/" + folder + "/drm/renderD128/dev", "226:128\n");
    machine.tree().link("sys/" + folder + "/drm/renderD128/device", "../../../" + name);
    machine.tree().link("sys/class/drm/renderD128", "../../" + folder + "/drm/renderD128");
  };
  const auto count_cards = [](const Machine& machine) {
    std::vector<Card> cards;
    CHECK(find_cards(machine.tree().sys(), cards) == 0);
    CHECK(has_card(machine.tree().sys()) == !cards.empty());
    return cards.size();
  };
  for (const char* name : {"vgem", "vkms"}) {
    CAPTURE(name);
    const Machine machine;
    add_node(machine, name, "platform", "");
    CHECK(count_cards(machine) == 0);
  }
  const Machine faux;
  add_node(faux, "second-vkms", "faux", "faux_driver");
  CHECK(count_cards(faux) == 0);
  const Machine real;
  add_node(real, "gpu", "platform", "lima");
  CHECK(count_cards(real) == 1);
}

TEST_CASE("accelerators and platform devices are found") {
  Machine machine;
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  hmn_fake::PciDevice npu = radeon("0000:c5:00.1");
  npu.driver = "amdxdna";
  machine.add_pci(npu, {accel0});
  std::vector<Card> cards;
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].driver_name.view() == "v3d");
  CHECK(cards[0].bus.view() == "platform");
  CHECK(cards[0].pci_bus_id.empty());
  CHECK(cards[0].vendor == vendor::unknown);
  CHECK(cards[1].driver_name.view() == "amdxdna");
  CHECK(cards[1].find(Node::Kind::accel)->number == 0);
  CHECK(has_card(machine.tree().sys()));
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].device_class == DeviceClass::gpu);
  CHECK(devices[1].device_class == DeviceClass::npu);
}

TEST_CASE("a virtio device has the address of its PCI function") {
  Machine machine;
  hmn_fake::PciDevice function = radeon("0000:00:02.0");
  function.vendor = 0x1af4;
  function.device = 0x1050;
  function.driver = "virtio-pci";
  machine.add_pci(function, {});
  const std::string folder = hmn_fake::pci_folder("0000:00:02.0") + "/virtio0";
  machine.tree().directory("sys/" + folder + "/drm/renderD128");
  machine.tree().link("sys/" + folder + "/driver", "../../../../bus/virtio/drivers/virtio_gpu");
  machine.tree().link("sys/" + folder + "/subsystem", "../../../../bus/virtio");
  machine.tree().link("sys/class/drm/renderD128", "../../" + folder + "/drm/renderD128");
  std::vector<Card> cards;
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  REQUIRE(cards.size() == 1);
  CHECK(cards[0].driver_name.view() == "virtio_gpu");
  CHECK(cards[0].pci_bus_id.view() == "0000:00:02.0");
  CHECK(cards[0].vendor == 0x1af4u);
}

TEST_CASE("a device that is being removed is gone before its nodes are") {
  Machine machine;
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  machine.add_pci(radeon(), {render129});
  PlainReading reading;
  CHECK(machine.devices(reading).size() == 2);
  machine.tree().remove("sys/devices/platform/fd500000.gpu/subsystem");
  const auto remaining = machine.devices(reading);
  REQUIRE(remaining.size() == 1);
  CHECK(remaining[0].pci_bus_id.view() == "0000:03:00.0");
}

TEST_CASE("nodes of a virtio transport belong to virtio_gpu") {
  Machine machine;
  hmn_fake::PciDevice function = radeon("0000:00:02.0");
  function.driver = "virtio-pci";
  machine.add_pci(function, {render128});
  machine.add_platform("a003e00.virtio_mmio", "virtio-mmio", {render129});
  std::vector<Card> cards;
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].driver_name.view() == "virtio_gpu");
  CHECK(cards[1].driver_name.view() == "virtio_gpu");
  PlainReading reading;
  for (const Device& device : machine.devices(reading))
    CHECK(device.form == DeviceForm::virtual_device);
  CHECK(machine.devices(reading).size() == 2);
}

TEST_CASE("a missing class and malformed files are handled") {
  hmn_fake::Tree empty;
  std::vector<Card> cards;
  CHECK(find_cards(empty.sys(), cards) == ENOENT);
  CHECK(cards.empty());
  Machine machine;
  machine.add_pci(radeon(), {render128});
  const std::string folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");
  machine.tree().write(folder + "/vendor", "");
  machine.tree().write(folder + "/device", "73bf\n");
  machine.tree().write(folder + "/subsystem_vendor", "0xzz\n");
  machine.tree().write(folder + "/drm/renderD128/dev", "");
  machine.tree().remove(folder + "/driver");
  CHECK(find_cards(machine.tree().sys(), cards) == 0);
  REQUIRE(cards.size() == 1);
  CHECK(cards[0].vendor == vendor::unknown);
  CHECK_FALSE(cards[0].pci_device);
  CHECK_FALSE(cards[0].pci_subsystem);
  CHECK(cards[0].driver_name.empty());
  CHECK(cards[0].nodes()[0].major == 0);
}
