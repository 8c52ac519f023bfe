// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/module.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

TEST_CASE("a module that is not there is named by its path") {
  const auto loaded = load_symbol("none", "hmn_none_begin");
  REQUIRE_FALSE(loaded);
  const auto& why = loaded.why().message;
  CAPTURE(why);
  CHECK(why.front() == '/');
  CHECK(why.find("/hypomnesis/none-") != why.npos);
}
