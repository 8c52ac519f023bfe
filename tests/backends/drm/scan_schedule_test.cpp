// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scanner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using hmn::drm::ScanSchedule;
using hmn::drm::Search;

namespace {

constexpr std::uint64_t schedule_second = 1'000'000'000;
constexpr std::uint64_t interval_ns = 2 * schedule_second;
constexpr std::uint32_t unlimited = 100;

bool is_due(ScanSchedule& schedule, std::uint32_t pid, std::uint64_t last_search_ns) {
  return schedule.choose_search(pid, last_search_ns, false, Search::none) == Search::all;
}

// Processes 1 to `count`, all searched in the first walk.
struct Crowd {
  explicit Crowd(std::size_t count) : search_times(count, schedule_second) {
    schedule.begin(schedule_second, 0);
  }

  // Returns how many processes were searched in the walk at that time.
  std::size_t walk(std::uint64_t now) {
    std::size_t search_count = 0;
    schedule.begin(now, search_times.size());
    for (std::size_t i = 0; i < search_times.size(); ++i) {
      longest_wait_ns = std::max(longest_wait_ns, now - search_times[i]);
      if (!is_due(schedule, static_cast<std::uint32_t>(i + 1), search_times[i])) continue;
      search_times[i] = now;
      ++search_count;
    }
    schedule.end();
    return search_count;
  }

  ScanSchedule schedule{interval_ns, unlimited};
  std::vector<std::uint64_t> search_times;
  std::uint64_t longest_wait_ns = 0;  // longest wait of a process
};

}  // namespace

TEST_CASE("frequent readings share the work evenly, and no process waits longer than allowed") {
  Crowd crowd(1000);
  std::size_t max_count = 0;
  for (std::uint64_t i = 1; i <= 200; ++i)
    max_count = std::max(max_count, crowd.walk(schedule_second + i * schedule_second / 10));
  CHECK(crowd.longest_wait_ns <= interval_ns);
  CHECK(max_count <= 1000 / 20 + 10);
}

TEST_CASE("readings with small delays keep no process waiting for long") {
  Crowd crowd(1000);
  std::uint64_t now = schedule_second;
  std::size_t max_count = 0;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    now += schedule_second / 10 + (i * 7919 % 5) * 1'000'000;
    max_count = std::max(max_count, crowd.walk(now));
  }
  CHECK(crowd.longest_wait_ns <= interval_ns + schedule_second / 10);
  CHECK(max_count <= 1000 / 10);
}

TEST_CASE("two readings per interval take about half of the processes each") {
  Crowd crowd(1000);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const std::size_t search_count = crowd.walk(schedule_second + i * schedule_second);
    CHECK(search_count >= 400);
    CHECK(search_count <= 600);
  }
  CHECK(crowd.longest_wait_ns <= interval_ns);
}

TEST_CASE("a reading after a long pause takes all processes, and the next ones share again") {
  Crowd crowd(1000);
  CHECK(crowd.walk(60 * schedule_second) == 1000);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    CHECK(crowd.walk(60 * schedule_second + i * schedule_second / 10) <= 70);
  }
}

TEST_CASE("without a rescan interval all processes are due at each reading") {
  ScanSchedule schedule(0, 2);
  schedule.begin(schedule_second, 0);
  schedule.begin(2 * schedule_second, 10);
  CHECK(is_due(schedule, 1, schedule_second));
  CHECK(schedule.is_slow(2 * schedule_second + 1));
  CHECK_FALSE(schedule.is_limited());
}

TEST_CASE("rare readings are distinguished from frequent ones") {
  ScanSchedule schedule(interval_ns, unlimited);
  CHECK(schedule.is_slow(schedule_second));
  schedule.begin(schedule_second, 0);
  CHECK_FALSE(schedule.is_slow(schedule_second + schedule_second / 10));
  CHECK(schedule.is_slow(2 * schedule_second));
}

TEST_CASE("with an endless interval no process is due after its first search") {
  ScanSchedule schedule(UINT64_MAX, unlimited);
  schedule.begin(schedule_second, 0);
  schedule.begin(1'000'000 * schedule_second, 10);
  CHECK_FALSE(is_due(schedule, 1, schedule_second));
  CHECK_FALSE(schedule.is_outdated(schedule_second));
  CHECK_FALSE(schedule.is_slow(2'000'000 * schedule_second));
}

namespace {

constexpr std::uint64_t search_cost = 100'000;  // ns of processor time
constexpr std::uint64_t comparison_cost = 10'000;
constexpr std::uint64_t listing_cost = 3'000'000;

// Processes 1 to `count`, one in 50 of them with clients, at ten readings a second.
struct LargeCrowd {
  explicit LargeCrowd(std::size_t count) : search_times(count, schedule_second) {
    schedule.begin(schedule_second, 0);
    schedule.count_listing(listing_cost);
    schedule.end();
  }

  void walk() {
    schedule.begin(now += schedule_second / 10, search_times.size());
    if (schedule.may_list()) {
      ++listings;
      schedule.count_listing(listing_cost);
      used_ns += listing_cost;
    }
    for (std::uint32_t i = 0; i < search_times.size(); ++i) {
      const bool is_client = i % 50 == 0;
      const Search search_kind =
          schedule.choose_search(i + 1, search_times[i], is_client, Search::none);
      const std::uint64_t cost = search_kind == Search::all     ? search_cost
                                 : search_kind == Search::count ? comparison_cost
                                                                : 0;
      if (!is_client) {
        schedule.count_search(cost);
        used_ns += cost;
      }
      if (search_kind == Search::all) search_times[i] = now;
      if (is_client)
        longest_client_wait_ns = std::max(longest_client_wait_ns, now - search_times[i]);
    }
    schedule.end();
    longest_wait_ns = std::max(longest_wait_ns,
                               now - *std::min_element(search_times.begin(), search_times.end()));
  }

  ScanSchedule schedule{interval_ns, 2};
  std::vector<std::uint64_t> search_times;
  std::uint64_t now = schedule_second;
  std::uint64_t used_ns = 0;
  std::uint64_t longest_wait_ns = 0;
  std::uint64_t longest_client_wait_ns = 0;
  int listings = 0;
};

}  // namespace

TEST_CASE("the search stays within its processor share, and every process is searched") {
  LargeCrowd crowd(10'000);
  constexpr std::uint64_t seconds = 600;
  for (std::uint64_t i = 0; i < seconds * 10; ++i) crowd.walk();
  CHECK(crowd.used_ns <= (seconds + 1) * schedule_second * 2 / 100 + search_cost);
  CHECK(crowd.used_ns >= seconds * schedule_second * 19 / 1000);
  CHECK(crowd.longest_client_wait_ns <= interval_ns);
  // Eight passes, each with 10,000 comparisons and one search in eight, in half of the time or
  // more.
  CHECK(crowd.longest_wait_ns <=
        8 * (10'000 * comparison_cost + 1'250 * search_cost) * 100 + 20 * schedule_second);
  CHECK(crowd.schedule.is_outdated(crowd.now - crowd.longest_wait_ns));
  CHECK(crowd.listings >= 100);
  CHECK(static_cast<std::uint64_t>(crowd.listings) * listing_cost <=
        seconds * schedule_second / 100 * 11 / 10);
}

TEST_CASE("if the processor share suffices, no process waits") {
  LargeCrowd crowd(50);
  for (int i = 0; i < 200; ++i) crowd.walk();
  CHECK(crowd.longest_wait_ns <= interval_ns);
  CHECK_FALSE(crowd.schedule.is_outdated(crowd.now - crowd.longest_wait_ns));
}

TEST_CASE("new processes are searched immediately, for up to a quarter of the reading interval") {
  ScanSchedule schedule(interval_ns, 2);
  schedule.begin(schedule_second, 0);
  schedule.count_search(schedule_second);
  CHECK(schedule.may_add());  // the first walk is complete
  schedule.end();
  schedule.begin(schedule_second + schedule_second / 10, 10);
  schedule.count_search(schedule_second / 40 - 1);
  CHECK(schedule.may_add());
  schedule.count_search(1);
  CHECK_FALSE(schedule.may_add());
  CHECK_FALSE(schedule.may_list());
  schedule.end();
  // The time is saved later.
  schedule.begin(schedule_second + schedule_second / 5, 10);
  CHECK(schedule.may_add());
  CHECK_FALSE(schedule.may_list());
  CHECK(schedule.choose_search(1, schedule_second, false, Search::none) == Search::none);
  schedule.end();
  schedule.begin(3 * schedule_second, 10);
  CHECK(schedule.may_list());
}
