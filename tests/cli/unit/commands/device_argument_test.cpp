// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/device_argument.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

std::string key_of(std::string_view text) {
  const auto parsed = parse_device_argument(text);
  REQUIRE(parsed);
  REQUIRE(std::holds_alternative<DeviceKey>(*parsed));
  return std::get<DeviceKey>(*parsed);
}

}  // namespace

TEST_CASE("a number is an index") {
  const auto parsed = parse_device_argument("12");
  REQUIRE(parsed);
  CHECK(std::get<DeviceIndex>(*parsed) == 12);
}

TEST_CASE("UUIDs and PCI addresses become keys") {
  CHECK(key_of("GPU-8f6d2b1e-7a01") == "uuid:GPU-8f6d2b1e-7a01");
  CHECK(key_of("MIG-1f6d2b1e-7a01") == "uuid:MIG-1f6d2b1e-7a01");
  CHECK(key_of("0000:01:00.0") == "pci:0000:01:00.0");
  CHECK(key_of("00000000:AF:00.0") == "pci:00000000:AF:00.0");
  CHECK(key_of("01:00.0") == "pci:01:00.0");
}

TEST_CASE("a key passes as it is") {
  CHECK(key_of("uuid:x") == "uuid:x");
  CHECK(key_of("driver:nvidia:3") == "driver:nvidia:3");
  CHECK(key_of("render:128") == "render:128");
}

TEST_CASE("what can be none of them is refused with what can") {
  for (const std::string_view text : {"", "abc", "-1", "0x1", "1.5", "zz:00.0", "99999999999"}) {
    const auto parsed = parse_device_argument(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.why().code == ExitCode::usage);
    CHECK(parsed.why().message.find(text) != std::string::npos);
  }
}

namespace {

using hypomnesis::run_state;
using hypomnesis::vendor_id;

hypomnesis::device device(std::uint32_t index, vendor_id vendor, const char* uuid,
                          const char* pci) {
  hypomnesis::device out;
  out.index = index;
  out.vendor = vendor;
  out.state = run_state::ready;
  if (uuid != nullptr) out.uuid = uuid;
  if (pci != nullptr) out.pci_bus_id = pci;
  return out;
}

std::string text(const Expected<Visibility>& of) {
  REQUIRE(of);
  std::string out;
  for (const auto& each : of->set) out += std::string(each.name) + "=" + each.value + " ";
  for (const char* each : of->unset) out += std::string("-") + each + " ";
  return out;
}

}  // namespace

TEST_CASE("NVIDIA takes UUIDs, of partitions too, else indexes in the order of PCI") {
  const auto mig = device(3, vendor_id::nvidia, "MIG-1", nullptr);
  CHECK(text(make_visible({mig}, {mig})) == "CUDA_VISIBLE_DEVICES=MIG-1 ");
  auto plain = device(0, vendor_id::nvidia, nullptr, "0000:01:00.0");
  CHECK_FALSE(make_visible({plain}, {plain}));
  plain.driver_index = 2;
  CHECK(text(make_visible({plain}, {plain})) ==
        "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2 ");
}

TEST_CASE("several devices keep their order, and one without a UUID makes all of them indexes") {
  auto a = device(0, vendor_id::nvidia, "GPU-a", "0000:01:00.0");
  auto b = device(1, vendor_id::nvidia, "GPU-b", "0000:02:00.0");
  CHECK(text(make_visible({b, a}, {a, b})) == "CUDA_VISIBLE_DEVICES=GPU-b,GPU-a ");
  b.uuid.reset();
  b.driver_index = 3;
  CHECK_FALSE(make_visible({b, a}, {a, b}));
  a.driver_index = 1;
  CHECK(text(make_visible({b, a}, {a, b})) ==
        "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=3,1 ");
  auto mig = device(2, vendor_id::nvidia, "MIG-1", nullptr);
  mig.parent_index = 0;
  CHECK(make_visible({mig}, {a, b, mig}));
  CHECK_FALSE(make_visible({mig, b}, {a, b, mig}));
}

TEST_CASE("--device takes lists") {
  const auto all = parse_device_list({"0,GPU-a", "01:00.0"});
  REQUIRE(all);
  CHECK(*all == std::vector<std::string>{"0", "GPU-a", "01:00.0"});
  CHECK(parse_device_list({})->empty());
  for (const char* wrong : {"", ",", "0,", "0,,1", "0,x"}) CHECK_FALSE(parse_device_list({wrong}));
}

TEST_CASE("AMD takes unique ids, which partitions of a card share") {
  const std::string others = "-HIP_VISIBLE_DEVICES -GPU_DEVICE_ORDINAL -CUDA_VISIBLE_DEVICES ";
  const auto a = device(0, vendor_id::amd, "GPU-00000000000000aa", "0000:01:00.0");
  const auto b = device(1, vendor_id::amd, "GPU-00000000000000bb", "0000:02:00.0");
  CHECK(text(make_visible({b}, {a, b})) == "ROCR_VISIBLE_DEVICES=GPU-00000000000000bb " + others);
  CHECK_FALSE(make_visible({a}, {a, a}));
  const auto nameless = device(0, vendor_id::amd, nullptr, "0000:01:00.0");
  CHECK(text(make_visible({nameless}, {nameless})) == "ROCR_VISIBLE_DEVICES=0 " + others);
  CHECK_FALSE(make_visible({nameless}, {nameless, b}));
}

TEST_CASE("Intel counts its own cards in the order of PCI") {
  const auto other = device(0, vendor_id::nvidia, "GPU-1", "0000:01:00.0");
  const auto first = device(2, vendor_id::intel, nullptr, "0000:03:00.0");
  const auto second = device(1, vendor_id::intel, nullptr, "0000:82:00.0");
  const std::string order = "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE ZE_ENABLE_PCI_ID_DEVICE_ORDER=1 ";
  CHECK(text(make_visible({first}, {other, second, first})) == order + "ZE_AFFINITY_MASK=0 ");
  CHECK(text(make_visible({second}, {other, second, first})) == order + "ZE_AFFINITY_MASK=1 ");
  CHECK_FALSE(make_visible({device(0, vendor_id::intel, nullptr, nullptr)}, {}));
}

TEST_CASE("another vendor has none") {
  const auto other = device(0, vendor_id::qualcomm, nullptr, nullptr);
  CHECK(text(make_visible({other}, {other})).empty());
}
