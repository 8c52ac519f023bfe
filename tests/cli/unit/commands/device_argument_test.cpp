// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/device_argument.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

std::string key_of(std::string_view text) {
  const auto parsed = parse_device_argument(text);
  REQUIRE(parsed);
  REQUIRE(std::holds_alternative<device_key>(*parsed));
  return std::get<device_key>(*parsed);
}

}  // namespace

TEST_CASE("a number is an index") {
  const auto parsed = parse_device_argument("12");
  REQUIRE(parsed);
  CHECK(std::get<device_index>(*parsed) == 12);
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
    CHECK(parsed.why().code == exit_code::usage);
    CHECK(parsed.why().message.find(text) != std::string::npos);
  }
}
