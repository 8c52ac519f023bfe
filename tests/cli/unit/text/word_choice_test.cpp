// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/word_choice.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

TEST_CASE("a word is chosen by its exact spelling") {
  constexpr std::string_view words[] = {"auto", "always", "never"};
  CHECK(*choose_word("--color", "auto", words) == 0);
  CHECK(*choose_word("--color", "never", words) == 2);
  for (const auto* wrong : {"Always", "", "auto ", "nev"}) {
    const auto result = choose_word("--color", wrong, words);
    REQUIRE_FALSE(result);
    CHECK(result.why().code == exit_code::usage);
    CHECK(result.why().message ==
          std::string("--color \"") + wrong + "\": expected auto, always or never");
  }
}
