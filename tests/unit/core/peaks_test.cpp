// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

using namespace hmn;

namespace {

Snapshot make_timed_snapshot(std::uint64_t monotonic_ns) {
  Snapshot snapshot;
  snapshot.monotonic_ns = monotonic_ns;
  return snapshot;
}

void add_pool(Snapshot& snapshot, std::uint32_t device, PoolKind kind, std::uint64_t used,
              bool is_main = true) {
  Pool& pool = snapshot.pools.emplace_back();
  pool.device_index = device;
  pool.kind = kind;
  pool.is_main = is_main;
  pool.used = used;
}

void add_row(Snapshot& snapshot, std::uint32_t device, std::uint32_t pid,
             std::optional<std::uint64_t> used) {
  Usage& usage = snapshot.usages.emplace_back();
  usage.device_index = device;
  usage.pid = pid;
  usage.used = used;
}

}  // namespace

TEST_CASE("each value has its peak and the time of its first occurrence") {
  Peaks peaks;
  const std::uint64_t used[] = {3, 9, 9, 4};
  for (std::uint64_t i = 0; i < 4; ++i) {
    Snapshot snapshot = make_timed_snapshot(100 + i);
    add_pool(snapshot, 2, PoolKind::vram, used[i]);
    add_pool(snapshot, 2, PoolKind::host, 10 - i, false);
    peaks.observe(snapshot);
  }
  const Peak* device_peak = peaks.find(2, 0);
  REQUIRE(device_peak != nullptr);
  CHECK(device_peak->used == 9);
  CHECK(device_peak->used_monotonic_ns == 101);
  CHECK(device_peak->host_pool == 10);
  CHECK_FALSE(device_peak->host_resident.has_value());
  CHECK(peaks.find(1, 0) == nullptr);
}

TEST_CASE("processes are distinguished by device and pid, and from the device") {
  Peaks peaks;
  Snapshot snapshot = make_timed_snapshot(1);
  for (std::uint32_t device = 2; device-- > 0;) {
    for (std::uint32_t pid = 20; pid > 0; --pid)
      add_row(snapshot, device, pid, device * 1000 + pid);
  }
  peaks.observe(snapshot);
  for (std::uint32_t device = 0; device < 2; ++device) {
    for (std::uint32_t pid = 1; pid <= 20; ++pid) {
      REQUIRE(peaks.find(device, pid) != nullptr);
      CHECK(peaks.find(device, pid)->used == device * 1000 + pid);
    }
  }
  CHECK(peaks.find(0, 0) == nullptr);
  CHECK(peaks.find(2, 1) == nullptr);
}

TEST_CASE("an unknown value leaves the known peak") {
  Peaks peaks;
  Snapshot first = make_timed_snapshot(1);
  add_row(first, 0, 7, 5);
  Snapshot second = make_timed_snapshot(2);
  add_row(second, 0, 7, std::nullopt);
  peaks.observe(first);
  peaks.observe(second);
  CHECK(peaks.find(0, 7)->used == 5);
}

TEST_CASE("peaks restart when another process gets the pid") {
  Peaks peaks;
  Snapshot first = make_timed_snapshot(1);
  add_row(first, 0, 7, 5);
  first.usages[0].process_key = 100;
  first.usages[0].start_unix_ns = 1'000'000'000;
  Snapshot second = make_timed_snapshot(2);
  add_row(second, 0, 7, 3);
  SUBCASE("the key differs and the start time is unknown") {
    second.usages[0].process_key = 200;
  }
  SUBCASE("the key is unknown and the start time differs") {
    second.usages[0].start_unix_ns = 2'000'000'000;
  }
  peaks.observe(first);
  peaks.observe(second);
  CHECK(peaks.find(0, 7)->used == 3);
}

TEST_CASE("peaks of a process survive a clock change") {
  Peaks peaks;
  Snapshot first = make_timed_snapshot(1);
  add_row(first, 0, 7, 5);
  first.usages[0].process_key = 100;
  first.usages[0].start_unix_ns = 1'000'000'000;
  Snapshot second = make_timed_snapshot(2);
  add_row(second, 0, 7, 3);
  second.usages[0].process_key = 100;
  second.usages[0].start_unix_ns = 9'000'000'000;
  peaks.observe(first);
  peaks.observe(second);
  CHECK(peaks.find(0, 7)->used == 5);
}

TEST_CASE("peaks of ended processes are dropped") {
  Peaks peaks;
  std::uint32_t pid = 0;
  for (std::uint64_t round = 1; round <= 5; ++round) {
    Snapshot snapshot = make_timed_snapshot(round);
    add_pool(snapshot, 0, PoolKind::vram, 1);
    snapshot.devices.emplace_back();
    add_row(snapshot, 0, 4'000'000, 6 - round);
    for (std::size_t i = 0; i < Peaks::max_entries / 2; ++i) add_row(snapshot, 1, ++pid, 1);
    peaks.observe(snapshot);
  }
  CHECK(peaks.find(1, 1) == nullptr);    // ended long ago
  CHECK(peaks.find(1, pid) != nullptr);  // of the last snapshot
  CHECK(peaks.find(0, 4'000'000)->used == 5);
  CHECK(peaks.find(0, 0) != nullptr);
}
