// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/pace.hpp"

#include <doctest/doctest.h>

using hmn::cli::pace;
using namespace std::chrono_literals;

TEST_CASE("what is cheap keeps its interval") {
  pace by(100ms, 400);
  const auto begun = pace::clock::now();
  CHECK(by.is_due(begun));
  by.count(begun, 10us);
  CHECK_FALSE(by.is_due(begun + 99ms));
  CHECK(by.is_due(begun + 100ms));
}

TEST_CASE("what is dear takes a quarter of a percent of a core in the long run") {
  pace by(100ms, 400);
  const auto begun = pace::clock::now();
  auto now = begun;
  std::chrono::nanoseconds spent{};
  for (; now < begun + 10min; now = by.next()) {
    by.count(now, 10ms);
    spent += 10ms;
  }
  CHECK(spent <= pace::allowance + (now - begun) / 400);
  CHECK(spent >= (now - begun) / 401);
}

TEST_CASE("a short run is seen well: the first measurements cost nothing") {
  pace by(100ms, 400);
  const auto begun = pace::clock::now();
  by.count(begun, 30ms);
  CHECK(by.next() == begun + 100ms);
  by.count(begun + 100ms, 10ms);
  CHECK(by.next() == begun + 200ms);
  by.count(begun + 200ms, 10ms);
  CHECK(by.next() == begun + 4s);
}
