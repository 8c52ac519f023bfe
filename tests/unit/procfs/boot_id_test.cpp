// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/boot.hpp"

#include <doctest/doctest.h>

using hmn::procfs::parse_boot_id;

namespace {

constexpr const char* boot_id = "6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a11\n";

}  // namespace

TEST_CASE("each boot id has a number of its own") {
  CHECK(parse_boot_id(boot_id) != 0);
  CHECK(parse_boot_id(boot_id) == parse_boot_id("6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a11"));
  CHECK(parse_boot_id(boot_id) != parse_boot_id("6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a12\n"));
  CHECK(parse_boot_id(boot_id) != parse_boot_id("16f4b1b0-e4f3-a4c8-99d2-e7d5b8f3f0a1\n"));
}

TEST_CASE("an invalid boot id has no number") {
  for (const char* text : {"", "\n", "6f4b1b0e", "none", "6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a1g\n",
                           "6f4b1b0e-4f3a-4c89-9d2e-7d5b8f3f0a1\n"}) {
    CAPTURE(text);
    CHECK(parse_boot_id(text) == 0);
  }
}
