// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn;

TEST_CASE("a sentence from texts and numbers") {
  CHECK(message_text().view().empty());
  CHECK(message_text("no memory").view() == "no memory");
  CHECK(message_text({"pid ", 42, " of ", std::string("/proc")}).view() == "pid 42 of /proc");
  CHECK_FALSE(message_text("no memory").was_cut());
}

TEST_CASE("255 bytes are whole, one more is cut") {
  const std::string fits(255, 'a');
  CHECK(message_text(fits).view() == fits);
  CHECK_FALSE(message_text(fits).was_cut());
  CHECK(message_text(fits + 'b').view() == fits);
  CHECK(message_text(fits + 'b').was_cut());
  CHECK(message_text({fits, "b", "c"}).view() == fits);
}

TEST_CASE("no code point is cut in two") {
  const std::string start(253, 'a');
  CHECK(message_text(start + "\xC3\xA4").view() == start + "\xC3\xA4");
  CHECK(message_text(start + "\xE2\x82\xAC").view() == start);
  CHECK(message_text(start + "\xF0\x9F\x98\x80").view() == start);
  CHECK(message_text({start, "\xE2\x82\xAC", "more"}).view() == start);
}
