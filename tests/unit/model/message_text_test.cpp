// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn;

TEST_CASE("a message is composed of texts and numbers") {
  CHECK(MessageText().view().empty());
  CHECK(MessageText("no memory").view() == "no memory");
  CHECK(MessageText({"pid ", 42, " of ", std::string("/proc")}).view() == "pid 42 of /proc");
  CHECK_FALSE(MessageText("no memory").was_cut());
}

TEST_CASE("a message holds 255 bytes, and a longer one is cut") {
  const std::string fits(255, 'a');
  CHECK(MessageText(fits).view() == fits);
  CHECK_FALSE(MessageText(fits).was_cut());
  CHECK(MessageText(fits + 'b').view() == fits);
  CHECK(MessageText(fits + 'b').was_cut());
  CHECK(MessageText({fits, "b", "c"}).view() == fits);
}

TEST_CASE("a cut never splits a code point") {
  const std::string start(253, 'a');
  CHECK(MessageText(start + "\xC3\xA4").view() == start + "\xC3\xA4");
  CHECK(MessageText(start + "\xE2\x82\xAC").view() == start);
  CHECK(MessageText(start + "\xF0\x9F\x98\x80").view() == start);
  CHECK(MessageText({start, "\xE2\x82\xAC", "more"}).view() == start);
}
