// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/short_text.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace hmn;

TEST_CASE("a word that lies where it stands") {
  constexpr short_text<5> word("name");
  static_assert(sizeof word == 5);
  CHECK(word.view() == "name");
  CHECK(word.size() == 4);
  CHECK(std::string_view(word.c_str()) == "name");
  CHECK_FALSE(word.empty());
}

TEST_CASE("no word") {
  CHECK(short_text<4>().empty());
  CHECK(short_text<4>("").view().empty());
}
