// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include <doctest/doctest.h>

using namespace hmn;

namespace {

constexpr std::uint64_t one_gib = 1 << 30;

class HostWith final : public HostSource {
 public:
  explicit HostWith(const SystemMemory& m) : memory_(m) {}

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

SystemMemory with_limit(std::uint64_t limit, std::uint64_t charged) {
  SystemMemory m;
  m.total = 64 * one_gib;
  m.available = 40 * one_gib;
  m.limit = limit;
  m.limit_used = charged;
  return m;
}

std::optional<std::uint64_t> usable_of(const SystemMemory& m) {
  HostWith host(m);
  SystemMemory read;
  REQUIRE(read_system(host, read, drop_silently));
  return read.usable;
}

std::optional<std::uint64_t> usable_of(Pool p) {
  SystemMemory m;
  m.total = 64 * one_gib;
  m.available = 8 * one_gib;
  HostWith host(m);
  p.is_main = true;
  Pools all;
  all.add(p);
  Device of;
  of.state = State::ready;
  of.memory_kind = MemoryKind::unified;
  set_usable(all, of, host);
  return all.all().front().usable;
}

Pool pool_of(PoolKind kind, std::uint64_t total, std::uint64_t free) {
  Pool p;
  p.kind = kind;
  p.total = total;
  p.free = free;
  return p;
}

}  // namespace

TEST_CASE("what limits leave is what their groups report; else what is not charged") {
  SystemMemory m = with_limit(28 * one_gib, 26 * one_gib);
  CHECK(usable_of(m) == 2 * one_gib);
  m.limit_left = 27 * one_gib;
  CHECK(usable_of(m) == 27 * one_gib);
  m.limit_left = one_gib;  // of another group
  CHECK(usable_of(m) == one_gib);
  m.limit_left = 60 * one_gib;
  CHECK(usable_of(m) == 40 * one_gib);
}

TEST_CASE("the pool decides whether it is a part of the host's memory, not the device") {
  CHECK(usable_of(pool_of(PoolKind::vram, 64 * one_gib, 60 * one_gib)) == 60 * one_gib);
  CHECK(usable_of(pool_of(PoolKind::host, 31 * one_gib, 30 * one_gib)) == 8 * one_gib);
  CHECK(usable_of(pool_of(PoolKind::unified, 64 * one_gib, 60 * one_gib)) == 8 * one_gib);
}

TEST_CASE("what firmware set aside of a unified pool comes on top of the host's") {
  Pool p = pool_of(PoolKind::unified, 80 * one_gib, 75 * one_gib);
  p.apart_free = 60 * one_gib;
  CHECK(usable_of(p) == 68 * one_gib);
  p.free = 10 * one_gib;
  CHECK(usable_of(p) == 10 * one_gib);
  p.free.reset();
  CHECK(usable_of(p) == 68 * one_gib);
  p.budget = 20 * one_gib;
  CHECK(usable_of(p) == 20 * one_gib);
}
