// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/command_tool/missing.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::command_tool;

TEST_CASE("fields that are missing alike stand together") {
  std::vector<missing> gone;
  add_missing(gone, 1, status::unsupported, "no column");
  add_missing(gone, 2, status::permission, "no column");
  add_missing(gone, 4, status::unsupported, "no column");
  add_missing(gone, 8, status::unsupported, "no sense");
  REQUIRE(gone.size() == 3);
  CHECK(gone[0].fields == 5);
  CHECK(gone[1].fields == 2);
  CHECK(gone[1].code == status::permission);
  CHECK(gone[2].fields == 8);
}
