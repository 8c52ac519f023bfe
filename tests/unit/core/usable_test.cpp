// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/usable.hpp"

#include <doctest/doctest.h>

using namespace hmn;

namespace {

constexpr std::uint64_t one_gib = 1 << 30;

class host_with final : public host_source {
 public:
  explicit host_with(const system_memory& m) : memory_(m) {}

  source id() const noexcept override { return source::os; }
  result<void> memory(std::uint32_t, std::uint64_t, process_memory&) override { return {}; }
  result<void> own_memory(std::uint64_t, process_memory&) override { return {}; }
  result<void> system(system_memory& out) override {
    out = memory_;
    return {};
  }
  void describe(usage&) override {}
  void describe_texts(usage&) override {}

 private:
  system_memory memory_;
};

system_memory with_limit(std::uint64_t limit, std::uint64_t charged) {
  system_memory m;
  m.total = 64 * one_gib;
  m.available = 40 * one_gib;
  m.limit = limit;
  m.limit_used = charged;
  return m;
}

std::optional<std::uint64_t> usable_of(const system_memory& m) {
  host_with host(m);
  system_memory read;
  REQUIRE(read_system(host, read, drop_silently));
  return read.usable;
}

std::optional<std::uint64_t> usable_of(pool p) {
  system_memory m;
  m.total = 64 * one_gib;
  m.available = 8 * one_gib;
  host_with host(m);
  p.is_main = true;
  pools all;
  all.add(p);
  device of;
  of.state = state::ready;
  of.memory_kind = memory_kind::unified;
  set_usable(all, of, host);
  return all.all().front().usable;
}

pool pool_of(pool_kind kind, std::uint64_t total, std::uint64_t free) {
  pool p;
  p.kind = kind;
  p.total = total;
  p.free = free;
  return p;
}

}  // namespace

TEST_CASE("what limits leave is what their groups report; else what is not charged") {
  system_memory m = with_limit(28 * one_gib, 26 * one_gib);
  CHECK(usable_of(m) == 2 * one_gib);
  m.limit_left = 27 * one_gib;
  CHECK(usable_of(m) == 27 * one_gib);
  m.limit_left = one_gib;  // of another group
  CHECK(usable_of(m) == one_gib);
  m.limit_left = 60 * one_gib;
  CHECK(usable_of(m) == 40 * one_gib);
}

TEST_CASE("the pool decides whether it is a part of the host's memory, not the device") {
  CHECK(usable_of(pool_of(pool_kind::vram, 64 * one_gib, 60 * one_gib)) == 60 * one_gib);
  CHECK(usable_of(pool_of(pool_kind::host, 31 * one_gib, 30 * one_gib)) == 8 * one_gib);
  CHECK(usable_of(pool_of(pool_kind::unified, 64 * one_gib, 60 * one_gib)) == 8 * one_gib);
}

TEST_CASE("what firmware set aside of a unified pool comes on top of the host's") {
  pool p = pool_of(pool_kind::unified, 80 * one_gib, 75 * one_gib);
  p.apart_free = 60 * one_gib;
  CHECK(usable_of(p) == 68 * one_gib);
  p.free = 10 * one_gib;
  CHECK(usable_of(p) == 10 * one_gib);
  p.free.reset();
  CHECK(usable_of(p) == 68 * one_gib);
  p.budget = 20 * one_gib;
  CHECK(usable_of(p) == 20 * one_gib);
}
