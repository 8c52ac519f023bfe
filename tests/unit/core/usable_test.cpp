// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include <doctest/doctest.h>

using namespace hmn;

namespace {

constexpr std::uint64_t one_gib = 1 << 30;

class FakeHost final : public HostSource {
 public:
  explicit FakeHost(const SystemMemory& memory) : memory_(memory) {}

  Source id() const noexcept override { return Source::os; }
  Result<void> memory(std::uint32_t, std::uint64_t, ProcessMemory&) override { return {}; }
  Result<void> own_memory(std::uint64_t, ProcessMemory&) override { return {}; }
  Result<void> system(SystemMemory& out) override {
    out = memory_;
    return {};
  }
  void describe(Usage&) override {}
  void describe_texts(Usage&) override {}

 private:
  SystemMemory memory_;
};

SystemMemory make_limited_memory(std::uint64_t limit, std::uint64_t charged) {
  SystemMemory memory;
  memory.total = 64 * one_gib;
  memory.available = 40 * one_gib;
  memory.limit = limit;
  memory.limit_used = charged;
  return memory;
}

std::optional<std::uint64_t> read_usable(const SystemMemory& memory) {
  FakeHost host(memory);
  SystemMemory result;
  REQUIRE(read_system(host, result, drop_silently));
  return result.usable;
}

std::optional<std::uint64_t> read_usable(Pool pool) {
  SystemMemory memory;
  memory.total = 64 * one_gib;
  memory.available = 8 * one_gib;
  FakeHost host(memory);
  pool.is_main = true;
  PoolList pools;
  pools.add(pool);
  Device device;
  device.state = State::ready;
  device.memory_kind = MemoryKind::unified;
  set_usable(pools, device, host);
  return pools.all().front().usable;
}

Pool make_pool(PoolKind kind, std::uint64_t total, std::uint64_t free) {
  Pool pool;
  pool.kind = kind;
  pool.total = total;
  pool.free = free;
  return pool;
}

}  // namespace

TEST_CASE("memory left under limits is what the groups report, else the uncharged part") {
  SystemMemory memory = make_limited_memory(28 * one_gib, 26 * one_gib);
  CHECK(read_usable(memory) == 2 * one_gib);
  memory.limit_left = 27 * one_gib;
  CHECK(read_usable(memory) == 27 * one_gib);
  memory.limit_left = one_gib;  // of another group
  CHECK(read_usable(memory) == one_gib);
  memory.limit_left = 60 * one_gib;
  CHECK(read_usable(memory) == 40 * one_gib);
}

TEST_CASE("whether a pool is part of host memory depends on the pool, not on the device") {
  CHECK(read_usable(make_pool(PoolKind::vram, 64 * one_gib, 60 * one_gib)) == 60 * one_gib);
  CHECK(read_usable(make_pool(PoolKind::host, 31 * one_gib, 30 * one_gib)) == 8 * one_gib);
  CHECK(read_usable(make_pool(PoolKind::unified, 64 * one_gib, 60 * one_gib)) == 8 * one_gib);
}

TEST_CASE("memory that firmware sets aside for a unified pool adds to the host's") {
  Pool pool = make_pool(PoolKind::unified, 80 * one_gib, 75 * one_gib);
  pool.carveout_free = 60 * one_gib;
  CHECK(read_usable(pool) == 68 * one_gib);
  pool.free = 10 * one_gib;
  CHECK(read_usable(pool) == 10 * one_gib);
  pool.free.reset();
  CHECK(read_usable(pool) == 68 * one_gib);
  pool.budget = 20 * one_gib;
  CHECK(read_usable(pool) == 20 * one_gib);
}
