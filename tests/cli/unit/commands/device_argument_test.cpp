// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/device_argument.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

std::string parse_key_argument(std::string_view text) {
  const auto parsed = parse_device_argument(text);
  REQUIRE(parsed);
  REQUIRE(std::holds_alternative<DeviceKey>(*parsed));
  return std::get<DeviceKey>(*parsed);
}

}  // namespace

TEST_CASE("a number is a device index") {
  const auto parsed = parse_device_argument("12");
  REQUIRE(parsed);
  CHECK(std::get<DeviceIndex>(*parsed) == 12);
}

TEST_CASE("UUIDs and PCI addresses become device keys") {
  CHECK(parse_key_argument("GPU-8f6d2b1e-7a01") == "uuid:GPU-8f6d2b1e-7a01");
  CHECK(parse_key_argument("MIG-1f6d2b1e-7a01") == "uuid:MIG-1f6d2b1e-7a01");
  CHECK(parse_key_argument("0000:01:00.0") == "pci:0000:01:00.0");
  CHECK(parse_key_argument("00000000:AF:00.0") == "pci:00000000:AF:00.0");
  CHECK(parse_key_argument("01:00.0") == "pci:01:00.0");
}

TEST_CASE("a device key is accepted unchanged") {
  CHECK(parse_key_argument("uuid:x") == "uuid:x");
  CHECK(parse_key_argument("driver:nvidia:3") == "driver:nvidia:3");
  CHECK(parse_key_argument("render:128") == "render:128");
}

TEST_CASE("an invalid device argument is a usage error that quotes it") {
  for (const std::string_view text : {"", "abc", "-1", "0x1", "1.5", "zz:00.0", "99999999999"}) {
    const auto parsed = parse_device_argument(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ExitCode::usage);
    CHECK(parsed.error().message.find(text) != std::string::npos);
  }
}

namespace {

using hypomnesis::run_state;
using hypomnesis::vendor_id;

hypomnesis::device make_device(std::uint32_t index, vendor_id vendor, const char* uuid,
                               const char* pci) {
  hypomnesis::device device;
  device.index = index;
  device.vendor = vendor;
  device.state = run_state::ready;
  if (uuid != nullptr) device.uuid = uuid;
  if (pci != nullptr) device.pci_bus_id = pci;
  return device;
}

std::string format_visibility(const Expected<Visibility>& visibility) {
  REQUIRE(visibility);
  std::string out;
  for (const auto& variable : visibility->set)
    out += std::string(variable.name) + "=" + variable.value + " ";
  for (const char* name : visibility->unset) out += std::string("-") + name + " ";
  return out;
}

}  // namespace

TEST_CASE("NVIDIA devices and partitions are selected by UUID, else by index in PCI order") {
  const auto mig = make_device(3, vendor_id::nvidia, "MIG-1", nullptr);
  CHECK(format_visibility(make_visibility({mig}, {mig})) == "CUDA_VISIBLE_DEVICES=MIG-1 ");
  auto plain = make_device(0, vendor_id::nvidia, nullptr, "0000:01:00.0");
  CHECK_FALSE(make_visibility({plain}, {plain}));
  plain.driver_index = 2;
  CHECK(format_visibility(make_visibility({plain}, {plain})) ==
        "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2 ");
}

TEST_CASE("devices keep their order, and all are selected by index if one lacks a UUID") {
  auto first = make_device(0, vendor_id::nvidia, "GPU-a", "0000:01:00.0");
  auto second = make_device(1, vendor_id::nvidia, "GPU-b", "0000:02:00.0");
  CHECK(format_visibility(make_visibility({second, first}, {first, second})) ==
        "CUDA_VISIBLE_DEVICES=GPU-b,GPU-a ");
  second.uuid.reset();
  second.driver_index = 3;
  CHECK_FALSE(make_visibility({second, first}, {first, second}));
  first.driver_index = 1;
  CHECK(format_visibility(make_visibility({second, first}, {first, second})) ==
        "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=3,1 ");
  auto mig = make_device(2, vendor_id::nvidia, "MIG-1", nullptr);
  mig.parent_index = 0;
  CHECK(make_visibility({mig}, {first, second, mig}));
  CHECK_FALSE(make_visibility({mig, second}, {first, second, mig}));
}

TEST_CASE("--device accepts comma-separated lists without empty or invalid items") {
  const auto all = parse_device_list({"0,GPU-a", "01:00.0"});
  REQUIRE(all);
  CHECK(*all == std::vector<std::string>{"0", "GPU-a", "01:00.0"});
  CHECK(parse_device_list({})->empty());
  for (const char* invalid : {"", ",", "0,", "0,,1", "0,x"})
    CHECK_FALSE(parse_device_list({invalid}));
}

TEST_CASE("AMD devices are selected by unique id, which must be unambiguous") {
  const std::string other_variables =
      "-HIP_VISIBLE_DEVICES -GPU_DEVICE_ORDINAL -CUDA_VISIBLE_DEVICES ";
  const auto first = make_device(0, vendor_id::amd, "GPU-00000000000000aa", "0000:01:00.0");
  const auto second = make_device(1, vendor_id::amd, "GPU-00000000000000bb", "0000:02:00.0");
  CHECK(format_visibility(make_visibility({second}, {first, second})) ==
        "ROCR_VISIBLE_DEVICES=GPU-00000000000000bb " + other_variables);
  CHECK_FALSE(make_visibility({first}, {first, first}));
  const auto nameless = make_device(0, vendor_id::amd, nullptr, "0000:01:00.0");
  CHECK(format_visibility(make_visibility({nameless}, {nameless})) ==
        "ROCR_VISIBLE_DEVICES=0 " + other_variables);
  CHECK_FALSE(make_visibility({nameless}, {nameless, second}));
}

TEST_CASE("Intel devices are selected by index among Intel cards in PCI order") {
  const auto nvidia = make_device(0, vendor_id::nvidia, "GPU-1", "0000:01:00.0");
  const auto first = make_device(2, vendor_id::intel, nullptr, "0000:03:00.0");
  const auto second = make_device(1, vendor_id::intel, nullptr, "0000:82:00.0");
  const std::string order = "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE ZE_ENABLE_PCI_ID_DEVICE_ORDER=1 ";
  CHECK(format_visibility(make_visibility({first}, {nvidia, second, first})) ==
        order + "ZE_AFFINITY_MASK=0 ");
  CHECK(format_visibility(make_visibility({second}, {nvidia, second, first})) ==
        order + "ZE_AFFINITY_MASK=1 ");
  CHECK_FALSE(make_visibility({make_device(0, vendor_id::intel, nullptr, nullptr)}, {}));
}

TEST_CASE("a vendor without such a variable sets no environment") {
  const auto qualcomm = make_device(0, vendor_id::qualcomm, nullptr, nullptr);
  CHECK(format_visibility(make_visibility({qualcomm}, {qualcomm})).empty());
}
