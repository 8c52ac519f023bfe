// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/latest_board.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "platform/clock.hpp"

using namespace hmn;

namespace {

// Every number of it is the same, so that a torn one shows.
struct Even {
  std::uint64_t number[41];
  std::uint8_t tail;
};

Even all_of(std::uint64_t n) {
  Even e{};
  for (std::uint64_t& each : e.number) each = n;
  e.tail = static_cast<std::uint8_t>(n);
  return e;
}

bool is_even(const Even& e) {
  for (const std::uint64_t each : e.number) {
    if (each != e.number[0]) return false;
  }
  return e.tail == static_cast<std::uint8_t>(e.number[0]);
}

Snapshot with_pool(std::uint32_t index, std::optional<std::uint64_t> used) {
  Snapshot s;
  s.ended_ns = platform::continuous_ns();
  s.devices.emplace_back().identity.edit().index = index;
  if (!used) return s;
  Pool& p = s.pools.emplace_back();
  p.device_index = index;
  p.is_main = true;
  p.used = used;
  return s;
}

}  // namespace

TEST_CASE("before the first store there is nothing") {
  Latest<Even> value;
  Even out = all_of(5);
  CHECK_FALSE(value.load(out));
  value.store(all_of(7));
  REQUIRE(value.load(out));
  CHECK(out.number[40] == 7);
  CHECK(out.tail == 7);
}

TEST_CASE("no reader sees a value that is torn, or one older than it has seen") {
  Latest<Even> value;
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::atomic<int> backwards{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      Even out{};
      ready.fetch_add(1);
      while (!done.load(std::memory_order_relaxed)) {
        if (!value.load(out)) continue;
        torn.fetch_add(is_even(out) ? 0 : 1, std::memory_order_relaxed);
        backwards.fetch_add(out.number[0] < last ? 1 : 0, std::memory_order_relaxed);
        last = out.number[0];
      }
    });
  }
  while (ready.load() != 3) std::this_thread::yield();
  for (std::uint64_t n = 1; n <= 200'000; ++n) value.store(all_of(n));
  done = true;
  for (std::thread& t : readers) t.join();
  CHECK(torn.load() == 0);
  CHECK(backwards.load() == 0);
  Even out{};
  REQUIRE(value.load(out));
  CHECK(out.number[0] == 200'000);
}

TEST_CASE("a board distinguishes what is not known from what is not there") {
  LatestBoard board;
  hmn_pool out = {};
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::none);
  board.publish(with_pool(0, 5));
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::here);
  CHECK(out.used_bytes == 5);
  CHECK((out.present & HMN_POOL_HAS_USED) != 0);
  CHECK(board.main_pool(1, out) == LatestBoard::Answer::no_device);
  CHECK(board.main_pool(1000, out) == LatestBoard::Answer::no_device);
  hmn_telemetry load = {};
  CHECK(board.telemetry(0, load) == LatestBoard::Answer::none);
  board.publish(with_pool(0, std::nullopt));
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::none);
}

TEST_CASE("a board holds every index") {
  LatestBoard board;
  hmn_pool out = {};
  for (std::uint32_t i = 100; i-- > 0;) board.publish(with_pool(i, i + 1000));
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(board.main_pool(i, out) == LatestBoard::Answer::here);
    CHECK(out.used_bytes == i + 1000);
  }
  CHECK(board.main_pool(100, out) == LatestBoard::Answer::no_device);
}

TEST_CASE("the age of what is shown counts from when its source was asked") {
  LatestBoard board;
  Snapshot s = with_pool(0, 5);
  s.pools[0].age_ns = 3'000'000'000;
  board.publish(s);
  hmn_pool out = {};
  REQUIRE(board.main_pool(0, out) == LatestBoard::Answer::here);
  CHECK(out.age_ns >= 3'000'000'000);
  CHECK(out.age_ns < 3'000'000'000 + 60 * platform::ns_per_second);
}
