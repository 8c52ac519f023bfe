// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scanner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using hmn::drm::ScanSchedule;
using hmn::drm::Search;

namespace {

constexpr std::uint64_t schedule_second = 1'000'000'000;
constexpr std::uint64_t every = 2 * schedule_second;
constexpr std::uint32_t unlimited = 100;

bool is_due(ScanSchedule& turns, std::uint32_t pid, std::uint64_t looked_ns) {
  return turns.of_known(pid, looked_ns, false, Search::none) == Search::all;
}

// Processes 1 to `count`, all looked at when the first walk is made.
struct Crowd {
  explicit Crowd(std::size_t count) : looked(count, schedule_second) {
    turns.begin(schedule_second, 0);
  }

  // How many had their turn in the walk at that time.
  std::size_t walk(std::uint64_t now) {
    std::size_t taken = 0;
    turns.begin(now, looked.size());
    for (std::size_t i = 0; i < looked.size(); ++i) {
      oldest = std::max(oldest, now - looked[i]);
      if (!is_due(turns, static_cast<std::uint32_t>(i + 1), looked[i])) continue;
      looked[i] = now;
      ++taken;
    }
    turns.end();
    return taken;
  }

  ScanSchedule turns{every, unlimited};
  std::vector<std::uint64_t> looked;
  std::uint64_t oldest = 0;  // how long one of them has waited at most
};

}  // namespace

TEST_CASE("many readings share the work evenly, and nobody waits longer than allowed") {
  Crowd all(1000);
  std::size_t most = 0;
  for (std::uint64_t i = 1; i <= 200; ++i)
    most = std::max(most, all.walk(schedule_second + i * schedule_second / 10));
  CHECK(all.oldest <= every);
  CHECK(most <= 1000 / 20 + 10);
}

TEST_CASE("readings that come a little late leave nobody waiting for long") {
  Crowd all(1000);
  std::uint64_t now = schedule_second;
  std::size_t most = 0;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    now += schedule_second / 10 + (i * 7919 % 5) * 1'000'000;
    most = std::max(most, all.walk(now));
  }
  CHECK(all.oldest <= every + schedule_second / 10);
  CHECK(most <= 1000 / 10);
}

TEST_CASE("two readings in the time take about half each") {
  Crowd all(1000);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const std::size_t taken = all.walk(schedule_second + i * schedule_second);
    CHECK(taken >= 400);
    CHECK(taken <= 600);
  }
  CHECK(all.oldest <= every);
}

TEST_CASE("a reading after a long pause takes all, and the next ones share again") {
  Crowd all(1000);
  CHECK(all.walk(60 * schedule_second) == 1000);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    CHECK(all.walk(60 * schedule_second + i * schedule_second / 10) <= 70);
  }
}

TEST_CASE("without a time all are due at each reading") {
  ScanSchedule turns(0, 2);
  turns.begin(schedule_second, 0);
  turns.begin(2 * schedule_second, 10);
  CHECK(is_due(turns, 1, schedule_second));
  CHECK(turns.is_slow(2 * schedule_second + 1));
  CHECK_FALSE(turns.is_limited());
}

TEST_CASE("few readings are told from many") {
  ScanSchedule turns(every, unlimited);
  CHECK(turns.is_slow(schedule_second));
  turns.begin(schedule_second, 0);
  CHECK_FALSE(turns.is_slow(schedule_second + schedule_second / 10));
  CHECK(turns.is_slow(2 * schedule_second));
}

TEST_CASE("without an end none is due after it was first seen") {
  ScanSchedule turns(UINT64_MAX, unlimited);
  turns.begin(schedule_second, 0);
  turns.begin(1'000'000 * schedule_second, 10);
  CHECK_FALSE(is_due(turns, 1, schedule_second));
  CHECK_FALSE(turns.is_outdated(schedule_second));
  CHECK_FALSE(turns.is_slow(2'000'000 * schedule_second));
}

namespace {

constexpr std::uint64_t per_search = 100'000;  // ns of processor time
constexpr std::uint64_t per_count = 10'000;
constexpr std::uint64_t per_listing = 3'000'000;

// Processes 1 to `count`, one in 50 of them with clients, at ten readings a second.
struct LargeCrowd {
  explicit LargeCrowd(std::size_t count) : looked(count, schedule_second) {
    turns.begin(schedule_second, 0);
    turns.listed(per_listing);
    turns.end();
  }

  void walk() {
    turns.begin(now += schedule_second / 10, looked.size());
    if (turns.may_list()) {
      ++listings;
      turns.listed(per_listing);
      used += per_listing;
    }
    for (std::uint32_t i = 0; i < looked.size(); ++i) {
      const bool is_client = i % 50 == 0;
      const Search how = turns.of_known(i + 1, looked[i], is_client, Search::none);
      const std::uint64_t cost = how == Search::all     ? per_search
                                 : how == Search::count ? per_count
                                                        : 0;
      if (!is_client) {
        turns.used(cost);
        used += cost;
      }
      if (how == Search::all) looked[i] = now;
      if (is_client) oldest_client = std::max(oldest_client, now - looked[i]);
    }
    turns.end();
    oldest = std::max(oldest, now - *std::min_element(looked.begin(), looked.end()));
  }

  ScanSchedule turns{every, 2};
  std::vector<std::uint64_t> looked;
  std::uint64_t now = schedule_second;
  std::uint64_t used = 0;
  std::uint64_t oldest = 0;
  std::uint64_t oldest_client = 0;
  int listings = 0;
};

}  // namespace

TEST_CASE("the search takes its share of the processor, and everybody has a turn") {
  LargeCrowd all(10'000);
  constexpr std::uint64_t seconds = 600;
  for (std::uint64_t i = 0; i < seconds * 10; ++i) all.walk();
  CHECK(all.used <= (seconds + 1) * schedule_second * 2 / 100 + per_search);
  CHECK(all.used >= seconds * schedule_second * 19 / 1000);
  CHECK(all.oldest_client <= every);
  // Eight passes, each with 10,000 comparisons and one search in eight, in half of the time or
  // more.
  CHECK(all.oldest <= 8 * (10'000 * per_count + 1'250 * per_search) * 100 + 20 * schedule_second);
  CHECK(all.turns.is_outdated(all.now - all.oldest));
  CHECK(all.listings >= 100);
  CHECK(static_cast<std::uint64_t>(all.listings) * per_listing <=
        seconds * schedule_second / 100 * 11 / 10);
}

TEST_CASE("where the time suffices, nothing waits") {
  LargeCrowd all(50);
  for (int i = 0; i < 200; ++i) all.walk();
  CHECK(all.oldest <= every);
  CHECK_FALSE(all.turns.is_outdated(all.now - all.oldest));
}

TEST_CASE("new processes are searched at once, for a quarter of the time between readings") {
  ScanSchedule turns(every, 2);
  turns.begin(schedule_second, 0);
  turns.used(schedule_second);
  CHECK(turns.may_add());  // the first walk is complete
  turns.end();
  turns.begin(schedule_second + schedule_second / 10, 10);
  turns.used(schedule_second / 40 - 1);
  CHECK(turns.may_add());
  turns.used(1);
  CHECK_FALSE(turns.may_add());
  CHECK_FALSE(turns.may_list());
  turns.end();
  // That is saved later.
  turns.begin(schedule_second + schedule_second / 5, 10);
  CHECK(turns.may_add());
  CHECK_FALSE(turns.may_list());
  CHECK(turns.of_known(1, schedule_second, false, Search::none) == Search::none);
  turns.end();
  turns.begin(3 * schedule_second, 10);
  CHECK(turns.may_list());
}
