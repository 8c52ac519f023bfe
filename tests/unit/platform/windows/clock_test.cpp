// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/clock.hpp"

#include <doctest/doctest.h>

#include <ctime>

using namespace hmn::platform;

TEST_CASE("clock: the unix clock counts from 1970") {
  const auto before = static_cast<uint64_t>(std::time(nullptr));
  const uint64_t seconds = unix_ns() / ns_per_second;
  CHECK(seconds + 1 >= before);
  CHECK(seconds <= static_cast<uint64_t>(std::time(nullptr)) + 1);
}

TEST_CASE("clock: the two clocks advance alike while the machine is awake") {
  const uint64_t suspended = suspended_ns();
  sleep_ns(60 * ns_per_ms);
  CHECK_FALSE(was_suspended(suspended, suspended_ns()));
}

TEST_CASE("clock: a sleep is not shortened, and both clocks advance with it") {
  const uint64_t start = monotonic_ns();
  const uint64_t wall = unix_ns();
  sleep_ns(60 * ns_per_ms + 1);
  const uint64_t slept = monotonic_ns() - start;
  CHECK(slept > 60 * ns_per_ms);
  CHECK(unix_ns() - wall >= 50 * ns_per_ms);
}
