// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/character.hpp"
#include "model/device.hpp"

using hmn::DeviceKey;
using hmn::parse_device_key;
using hmn::PciAddress;

TEST_CASE("a PCI address without a domain has domain 0") {
  const PciAddress expected{0, 1, 0, 0};
  for (const char* address : {"0000:01:00.0", "00000000:01:00.0", "01:00.0", "1:0.0", "0:1:0.0"}) {
    CAPTURE(address);
    CHECK(parse_device_key(std::string("pci:") + address)->pci == expected);
  }
  for (const char* address : {"01:00", "01:00.8", "01:20.0", "100:00.0", " 01:00.0", "zz:00.0",
                              "01:00.", ":01:00.0", "01:00.00", "+1:0.0", "0x1:0.0", "."}) {
    CAPTURE(address);
    CHECK(!parse_device_key(std::string("pci:") + address));
  }
}

TEST_CASE("a device key has a kind and a value") {
  CHECK(parse_device_key("uuid:GPU-1")->uuid == "GPU-1");
  CHECK(parse_device_key("pci:01:00.0")->pci == PciAddress{0, 1, 0, 0});
  CHECK(parse_device_key("render:128")->number == 128);
  CHECK(parse_device_key("driver:nvidia:3")->number == 3);
  CHECK(parse_device_key("driver:amd:3")->vendor == hmn::vendor::amd);
  CHECK(parse_device_key("luid:0x3f0")->number == 0x3f0);
  CHECK(parse_device_key("luid:ffffffffffffffff")->number == UINT64_MAX);
}

TEST_CASE("an invalid key is refused with its text and the expected form") {
  for (const char* text :
       {"", "uuid", "uuid:", "pci:", "pci:1", "render:", "render:-1", "render:0x80", "driver:3",
        "driver:nvidia", "driver:nvidia:", "driver:unknown:0", "driver:nvidia:4294967296",
        "luid:", "luid:10000000000000000", "index:0", "0"}) {
    CAPTURE(text);
    const auto key = parse_device_key(text);
    REQUIRE(!key);
    CHECK(key.failure().code == hmn::Status::argument);
    CHECK(key.failure().message.view().find('"' + std::string(text) + '"') != std::string::npos);
    CHECK(key.failure().message.view().find("expected") != std::string::npos);
  }
}

TEST_CASE("UUIDs are compared ignoring case") {
  CHECK(hmn::equal_ignoring_case("GPU-ab", "gpu-AB"));
  CHECK(!hmn::equal_ignoring_case("GPU-ab", "GPU-abc"));
}
