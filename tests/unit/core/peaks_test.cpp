// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

using namespace hmn;

namespace {

Snapshot at(std::uint64_t monotonic_ns) {
  Snapshot s;
  s.monotonic_ns = monotonic_ns;
  return s;
}

void add_pool(Snapshot& s, std::uint32_t device, PoolKind kind, std::uint64_t used,
              bool is_main = true) {
  Pool& p = s.pools.emplace_back();
  p.device_index = device;
  p.kind = kind;
  p.is_main = is_main;
  p.used = used;
}

void add_row(Snapshot& s, std::uint32_t device, std::uint32_t pid,
             std::optional<std::uint64_t> used) {
  Usage& u = s.usages.emplace_back();
  u.device_index = device;
  u.pid = pid;
  u.used = used;
}

}  // namespace

TEST_CASE("each figure has its highest, and the moment of the first time") {
  Peaks p;
  const std::uint64_t used[] = {3, 9, 9, 4};
  for (std::uint64_t i = 0; i < 4; ++i) {
    Snapshot s = at(100 + i);
    add_pool(s, 2, PoolKind::vram, used[i]);
    add_pool(s, 2, PoolKind::host, 10 - i, false);
    p.observe(s);
  }
  const Peak* device = p.find(2, 0);
  REQUIRE(device != nullptr);
  CHECK(device->used == 9);
  CHECK(device->used_monotonic_ns == 101);
  CHECK(device->host_pool == 10);
  CHECK_FALSE(device->host_resident.has_value());
  CHECK(p.find(1, 0) == nullptr);
}

TEST_CASE("processes are told apart by device and pid, and from the device") {
  Peaks p;
  Snapshot s = at(1);
  for (std::uint32_t device = 2; device-- > 0;) {
    for (std::uint32_t pid = 20; pid > 0; --pid) add_row(s, device, pid, device * 1000 + pid);
  }
  p.observe(s);
  for (std::uint32_t device = 0; device < 2; ++device) {
    for (std::uint32_t pid = 1; pid <= 20; ++pid) {
      REQUIRE(p.find(device, pid) != nullptr);
      CHECK(p.find(device, pid)->used == device * 1000 + pid);
    }
  }
  CHECK(p.find(0, 0) == nullptr);
  CHECK(p.find(2, 1) == nullptr);
}

TEST_CASE("a figure that is not known leaves what was known") {
  Peaks p;
  Snapshot first = at(1);
  add_row(first, 0, 7, 5);
  Snapshot second = at(2);
  add_row(second, 0, 7, std::nullopt);
  p.observe(first);
  p.observe(second);
  CHECK(p.find(0, 7)->used == 5);
}

TEST_CASE("peaks begin again when another process gets the pid") {
  Peaks p;
  Snapshot first = at(1);
  add_row(first, 0, 7, 5);
  first.usages[0].process_key = 100;
  first.usages[0].start_unix_ns = 1'000'000'000;
  Snapshot second = at(2);
  add_row(second, 0, 7, 3);
  SUBCASE("its key differs, and its start time is unknown") {
    second.usages[0].process_key = 200;
  }
  SUBCASE("its key is unknown, and its start time differs") {
    second.usages[0].start_unix_ns = 2'000'000'000;
  }
  p.observe(first);
  p.observe(second);
  CHECK(p.find(0, 7)->used == 3);
}

TEST_CASE("peaks of a process stay when the clock is set") {
  Peaks p;
  Snapshot first = at(1);
  add_row(first, 0, 7, 5);
  first.usages[0].process_key = 100;
  first.usages[0].start_unix_ns = 1'000'000'000;
  Snapshot second = at(2);
  add_row(second, 0, 7, 3);
  second.usages[0].process_key = 100;
  second.usages[0].start_unix_ns = 9'000'000'000;
  p.observe(first);
  p.observe(second);
  CHECK(p.find(0, 7)->used == 5);
}

TEST_CASE("the peaks of processes that have ended do not pile up") {
  Peaks p;
  std::uint32_t pid = 0;
  for (std::uint64_t round = 1; round <= 5; ++round) {
    Snapshot s = at(round);
    add_pool(s, 0, PoolKind::vram, 1);
    s.devices.emplace_back();
    add_row(s, 0, 4'000'000, 6 - round);
    for (std::size_t i = 0; i < Peaks::most / 2; ++i) add_row(s, 1, ++pid, 1);
    p.observe(s);
  }
  CHECK(p.find(1, 1) == nullptr);    // ended long ago
  CHECK(p.find(1, pid) != nullptr);  // of the last snapshot
  CHECK(p.find(0, 4'000'000)->used == 5);
  CHECK(p.find(0, 0) != nullptr);
}
