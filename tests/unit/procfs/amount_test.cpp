// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

TEST_CASE("an amount is digits and kB") {
  CHECK(parse_kilobytes("\t   12345 kB").value() == 12'641'280);
  CHECK(parse_kilobytes(" 0 kB").value() == 0);
  CHECK(parse_kilobytes("1\tkB ").value() == 1024);
}

TEST_CASE("another unit, none, or two are malformed") {
  for (const char* text : {"12", "12 MB", "12 KB", "12 GB", "12kB", "12 kB kB", "-1 kB", "+1 kB",
                           "1.5 kB", "kB", "", "0x10 kB"}) {
    CAPTURE(text);
    CHECK(parse_kilobytes(text).what == Amount::Is::malformed);
    CHECK_FALSE(parse_kilobytes(text).value());
  }
}

TEST_CASE("an amount past 64 bits is malformed, not wrapped") {
  CHECK(parse_kilobytes("18014398509481983 kB").value() == 18446744073709550592ULL);
  CHECK(parse_kilobytes("18014398509481984 kB").what == Amount::Is::malformed);
  CHECK(parse_kilobytes("18446744073709551616 kB").what == Amount::Is::malformed);
}

TEST_CASE("of two lines with one key the first counts, and a key is a whole word") {
  Amount a;
  Amount b;
  const WantedAmount wanted[] = {{"Rss", &a}, {"Pss", &b}};
  parse_amounts("RssAnon: 1 kB\n Rss: 2 kB\nRss: 3 kB\nRss: 4 kB\nnonsense\nPss:5kB\nPss: 6 kB\n",
                wanted);
  CHECK(a.value() == 3 * 1024);
  CHECK(b.what == Amount::Is::malformed);
}

TEST_CASE("a line without its end is not read") {
  Amount a;
  const WantedAmount wanted[] = {{"Rss", &a}};
  parse_amounts("Rss: 12", wanted);
  CHECK(a.what == Amount::Is::missing);
  parse_amounts("Rss: 12 kB", wanted);
  CHECK(a.what == Amount::Is::missing);
}
