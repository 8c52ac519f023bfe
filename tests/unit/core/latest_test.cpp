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

// All its numbers are equal, so that a torn copy is detected.
struct UniformRecord {
  std::uint64_t numbers[41];
  std::uint8_t tail;
};

UniformRecord make_uniform(std::uint64_t value) {
  UniformRecord record{};
  for (std::uint64_t& number : record.numbers) number = value;
  record.tail = static_cast<std::uint8_t>(value);
  return record;
}

bool is_uniform(const UniformRecord& record) {
  for (const std::uint64_t number : record.numbers) {
    if (number != record.numbers[0]) return false;
  }
  return record.tail == static_cast<std::uint8_t>(record.numbers[0]);
}

Snapshot make_pool_snapshot(std::uint32_t index, std::optional<std::uint64_t> used) {
  Snapshot snapshot;
  snapshot.end_ns = platform::continuous_ns();
  snapshot.devices.emplace_back().identity.edit().index = index;
  if (!used) return snapshot;
  Pool& pool = snapshot.pools.emplace_back();
  pool.device_index = index;
  pool.is_main = true;
  pool.used = used;
  return snapshot;
}

}  // namespace

TEST_CASE("a load before the first store returns nothing") {
  Latest<UniformRecord> value;
  UniformRecord out = make_uniform(5);
  CHECK_FALSE(value.load(out));
  value.store(make_uniform(7));
  REQUIRE(value.load(out));
  CHECK(out.numbers[40] == 7);
  CHECK(out.tail == 7);
}

TEST_CASE("readers see no torn value and none older than the last one seen") {
  Latest<UniformRecord> value;
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::atomic<int> backwards{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      UniformRecord out{};
      ready.fetch_add(1);
      while (!done.load(std::memory_order_relaxed)) {
        if (!value.load(out)) continue;
        torn.fetch_add(is_uniform(out) ? 0 : 1, std::memory_order_relaxed);
        backwards.fetch_add(out.numbers[0] < last ? 1 : 0, std::memory_order_relaxed);
        last = out.numbers[0];
      }
    });
  }
  while (ready.load() != 3) std::this_thread::yield();
  for (std::uint64_t n = 1; n <= 200'000; ++n) value.store(make_uniform(n));
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(torn.load() == 0);
  CHECK(backwards.load() == 0);
  UniformRecord out{};
  REQUIRE(value.load(out));
  CHECK(out.numbers[0] == 200'000);
}

TEST_CASE("a board distinguishes unknown values from missing devices") {
  LatestBoard board;
  hmn_pool out = {};
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::none);
  board.publish(make_pool_snapshot(0, 5));
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::available);
  CHECK(out.used_bytes == 5);
  CHECK((out.present & HMN_POOL_HAS_USED) != 0);
  CHECK(board.main_pool(1, out) == LatestBoard::Answer::no_device);
  CHECK(board.main_pool(1000, out) == LatestBoard::Answer::no_device);
  hmn_telemetry telemetry = {};
  CHECK(board.telemetry(0, telemetry) == LatestBoard::Answer::none);
  board.publish(make_pool_snapshot(0, std::nullopt));
  CHECK(board.main_pool(0, out) == LatestBoard::Answer::none);
}

TEST_CASE("a board holds every device index") {
  LatestBoard board;
  hmn_pool out = {};
  for (std::uint32_t i = 100; i-- > 0;) board.publish(make_pool_snapshot(i, i + 1000));
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(board.main_pool(i, out) == LatestBoard::Answer::available);
    CHECK(out.used_bytes == i + 1000);
  }
  CHECK(board.main_pool(100, out) == LatestBoard::Answer::no_device);
}

TEST_CASE("the age of a published value counts from the time of its reading") {
  LatestBoard board;
  Snapshot snapshot = make_pool_snapshot(0, 5);
  snapshot.pools[0].age_ns = 3'000'000'000;
  board.publish(snapshot);
  hmn_pool out = {};
  REQUIRE(board.main_pool(0, out) == LatestBoard::Answer::available);
  CHECK(out.age_ns >= 3'000'000'000);
  CHECK(out.age_ns < 3'000'000'000 + 60 * platform::ns_per_second);
}
