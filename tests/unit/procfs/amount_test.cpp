// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

TEST_CASE("an amount is digits followed by kB") {
  CHECK(parse_kilobytes("\t   12345 kB").value() == 12'641'280);
  CHECK(parse_kilobytes(" 0 kB").value() == 0);
  CHECK(parse_kilobytes("1\tkB ").value() == 1024);
}

TEST_CASE("an amount with another unit, none or two is malformed") {
  for (const char* text : {"12", "12 MB", "12 KB", "12 GB", "12kB", "12 kB kB", "-1 kB", "+1 kB",
                           "1.5 kB", "kB", "", "0x10 kB"}) {
    CAPTURE(text);
    CHECK(parse_kilobytes(text).state == Amount::State::malformed);
    CHECK_FALSE(parse_kilobytes(text).value());
  }
}

TEST_CASE("an amount beyond 64 bits is malformed, not wrapped") {
  CHECK(parse_kilobytes("18014398509481983 kB").value() == 18446744073709550592ULL);
  CHECK(parse_kilobytes("18014398509481984 kB").state == Amount::State::malformed);
  CHECK(parse_kilobytes("18446744073709551616 kB").state == Amount::State::malformed);
}

TEST_CASE("the first of two lines with one key counts, and a key must match whole") {
  Amount rss;
  Amount pss;
  const AmountRequest requests[] = {{"Rss", &rss}, {"Pss", &pss}};
  parse_amounts("RssAnon: 1 kB\n Rss: 2 kB\nRss: 3 kB\nRss: 4 kB\nnonsense\nPss:5kB\nPss: 6 kB\n",
                requests);
  CHECK(rss.value() == 3 * 1024);
  CHECK(pss.state == Amount::State::malformed);
}

TEST_CASE("a line without a line end is not read") {
  Amount rss;
  const AmountRequest requests[] = {{"Rss", &rss}};
  parse_amounts("Rss: 12", requests);
  CHECK(rss.state == Amount::State::missing);
  parse_amounts("Rss: 12 kB", requests);
  CHECK(rss.state == Amount::State::missing);
}
