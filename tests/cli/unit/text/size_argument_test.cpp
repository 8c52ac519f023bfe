// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/size_argument.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

std::uint64_t bytes(std::string_view text) {
  const auto parsed = parse_size_argument(text);
  REQUIRE_MESSAGE(parsed, text);
  return *parsed;
}

std::string refused(std::string_view text) {
  const auto parsed = parse_size_argument(text);
  REQUIRE_FALSE_MESSAGE(parsed, text);
  CHECK(parsed.why().code == exit_code::usage);
  return parsed.why().message;
}

}  // namespace

TEST_CASE("a size is a number and a unit") {
  CHECK(bytes("1B") == 1);
  CHECK(bytes("20GiB") == 20ull << 30);
  CHECK(bytes("512 MiB") == 512ull << 20);
  CHECK(bytes("8G") == 8ull << 30);
  CHECK(bytes("80GB") == 80'000'000'000);
  CHECK(bytes("1.5TiB") == 3ull << 39);
  CHECK(bytes("16777215TiB") == 16777215ull << 40);
}

TEST_CASE("a part of a byte is a whole one: the room must be enough") {
  CHECK(bytes("0.1B") == 1);
  CHECK(bytes("0.000001KiB") == 1);
  CHECK(bytes("1.000001KB") == 1001);
}

TEST_CASE("what is no size is named") {
  CHECK(refused("20").find("20GiB or 20MiB") != std::string::npos);
  for (const char* text :
       {"", "GiB", "-1GiB", "1e3B", "20 gib", "20GiBs", "1.GiB", ".5GiB", "1.1234567GiB", "1..5GiB",
        "0GiB", "16777216TiB", "99999999999999999999999B", "20GiB "})
    CHECK(refused(text).find(text) != std::string::npos);
}
