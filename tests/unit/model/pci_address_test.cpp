// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/pci_address.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("a PCI id is not a device name") {
  for (const char* id :
       {"0x10de", "10de:2684", "0x10de:0x2684", "[10de:2684]", "0x268410de", "2684", "a100",
        "Device A100", "NVIDIA Corporation Device 2684", "NVIDIA Corporation Device 2684 (rev a1)",
        "Advanced Micro Devices, Inc. [AMD/ATI] Device [1002:744C]"}) {
    CHECK_MESSAGE(is_pci_id(id), id);
  }
  for (const char* name :
       {"", "NVIDIA GeForce RTX 4090", "NVIDIA Graphics Device", "GeForce 9800", "Tesla V100",
        "AMD Radeon RX 7900 XTX", "Device", "NVIDIA Corporation", "NVIDIA A100-SXM4-80GB",
        "Intel(R) UHD Graphics 770", "NVIDIA GB10", "Orin (nvgpu)", "A100", "B200"}) {
    CHECK_MESSAGE(!is_pci_id(name), name);
  }
}

TEST_CASE("a PCI address is read in every spelling") {
  const PciAddress expected{0, 1, 0, 0};
  for (const char* text : {"0000:01:00.0", "00000000:01:00.0", "0:1:0.0", "000:01:00.0"}) {
    CAPTURE(text);
    CHECK(parse_pci_address(text) == expected);
  }
  CHECK(parse_pci_address("0000:0A:1f.7") == PciAddress{0, 10, 31, 7});
  CHECK(parse_pci_address("10000:AF:1f.7") == PciAddress{0x10000, 0xaf, 0x1f, 7});
  CHECK(parse_pci_address("ffffffff:ff:00.0") == PciAddress{0xffffffff, 0xff, 0, 0});
  CHECK(parse_pci_address("ffff:c1:00.0") == parse_pci_address("FFFF:C1:00.0"));
}

TEST_CASE("an invalid PCI address is refused") {
  for (const char* text : {"",
                           ".",
                           ":",
                           "0",
                           "01:00",
                           "01:00.0",
                           "0000:01:00",
                           "0000:01:00.8",
                           "GPU-0",
                           "0000:01:20.0",
                           "0000:01",
                           ":01:00.0",
                           "0000:101:00.0",
                           "0000:01:00.",
                           "0000:01:00.0 ",
                           "-1:01:00.0",
                           "+1:0:0.0",
                           " 0000:01:00.0",
                           "[N/A]",
                           "000000000:01:00.0",
                           "0x0:01:00.0",
                           "x:0C:00.0",
                           "0000-01:00.0",
                           "virtio0",
                           "0000:01:00.00",
                           "0000:0g:00.0",
                           "0000:01:00.0a",
                           "0000:0000:01:00.0",
                           "fd500000.gpu",
                           "0000:01:00.0\n"}) {
    CAPTURE(text);
    CHECK(!parse_pci_address(text));
    CHECK(normalize_pci_address(text).empty());
  }
  CHECK(!parse_pci_address({"0000:01:00.0\0", 13}));
}

TEST_CASE("a PCI address is written in lower case, with four digits of domain or eight") {
  CHECK(to_text({0, 0x0a, 0x1f, 7}).view() == "0000:0a:1f.7");
  CHECK(to_text({0xFFFF, 1, 0, 0}).view() == "ffff:01:00.0");
  CHECK(to_text({0x10000, 1, 0, 0}).view() == "00010000:01:00.0");
  CHECK(normalize_pci_address("00000000:0C:00.0").view() == "0000:0c:00.0");
  CHECK(normalize_pci_address("00010002:FF:1F.7").view() == "00010002:ff:1f.7");
  CHECK(normalize_pci_address("10000:e1:00.1").view() == "00010000:e1:00.1");
}

TEST_CASE("the kernel's folder names have no leading zeros in a long domain") {
  CHECK(sysfs_name({0x10000, 1, 0, 0}).view() == "10000:01:00.0");
  CHECK(sysfs_name({2, 1, 0, 0}).view() == "0002:01:00.0");
}
