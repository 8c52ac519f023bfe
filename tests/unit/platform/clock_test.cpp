// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/clock.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

using namespace hmn::platform;

TEST_CASE("clock: the monotonic clock is CLOCK_MONOTONIC in nanoseconds") {
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const uint64_t now = monotonic_ns();
  timespec after{};
  clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK(now >= static_cast<uint64_t>(before.tv_sec) * 1'000'000'000 +
                   static_cast<uint64_t>(before.tv_nsec));
  CHECK(now <=
        static_cast<uint64_t>(after.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(after.tv_nsec));
}

TEST_CASE("clock: the continuous clock is CLOCK_BOOTTIME in nanoseconds") {
  timespec before{};
  clock_gettime(CLOCK_BOOTTIME, &before);
  const uint64_t now = continuous_ns();
  timespec after{};
  clock_gettime(CLOCK_BOOTTIME, &after);
  CHECK(now >= static_cast<uint64_t>(before.tv_sec) * 1'000'000'000 +
                   static_cast<uint64_t>(before.tv_nsec));
  CHECK(now <=
        static_cast<uint64_t>(after.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(after.tv_nsec));
}

TEST_CASE("clock: only a suspend moves the two clocks apart") {
  CHECK_FALSE(was_suspended(suspended_ns(), suspended_ns()));
  CHECK_FALSE(was_suspended(5, 5 + 10 * ns_per_ms));
  CHECK(was_suspended(5, 6 + 10 * ns_per_ms));
  // The difference may be negative where the clocks count from different moments.
  CHECK_FALSE(was_suspended(UINT64_MAX, 10));
  CHECK(was_suspended(UINT64_MAX - 20 * ns_per_ms, 10));
}

TEST_CASE("clock: the unix clock counts from 1970") {
  const auto before = static_cast<uint64_t>(time(nullptr));
  const uint64_t seconds = unix_ns() / ns_per_second;
  // time() may lag by a tick.
  CHECK(seconds >= before);
  CHECK(seconds <= static_cast<uint64_t>(time(nullptr)) + 1);
}

TEST_CASE("clock: signals do not shorten a sleep") {
  struct sigaction counting {};
  struct sigaction previous {};
  static volatile sig_atomic_t alarms = 0;
  counting.sa_handler = [](int) { alarms = alarms + 1; };
  sigaction(SIGALRM, &counting, &previous);
  const itimerval interval{{0, 5000}, {0, 5000}};
  setitimer(ITIMER_REAL, &interval, nullptr);

  const uint64_t start = monotonic_ns();
  sleep_ns(60 * ns_per_ms);
  const uint64_t slept = monotonic_ns() - start;

  const itimerval disabled{};
  setitimer(ITIMER_REAL, &disabled, nullptr);
  sigaction(SIGALRM, &previous, nullptr);
  CHECK(alarms > 0);
  CHECK(slept >= 60 * ns_per_ms);
}
