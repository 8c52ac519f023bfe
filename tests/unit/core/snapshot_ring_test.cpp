// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

#include "sample.hpp"

using hmn::Snapshot;
using hmn::SnapshotRing;

namespace {

std::unique_ptr<Snapshot> numbered(std::uint64_t n) {
  auto made = std::make_unique<Snapshot>();
  made->monotonic_ns = n;
  return made;
}

}  // namespace

TEST_CASE("what went in first comes out first") {
  SnapshotRing ring(3);
  CHECK(ring.pop() == nullptr);
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(ring.push(numbered(n)) == nullptr);
  CHECK(ring.size() == 3);
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(ring.pop()->monotonic_ns == n);
  CHECK(ring.size() == 0);
  CHECK(ring.pop() == nullptr);
}

TEST_CASE("a full ring gives up its oldest") {
  SnapshotRing ring(2);
  static_cast<void>(ring.push(numbered(1)));
  static_cast<void>(ring.push(numbered(2)));
  for (std::uint64_t n = 3; n <= 9; ++n) {
    const auto dropped = ring.push(numbered(n));
    REQUIRE(dropped);
    CHECK(dropped->monotonic_ns == n - 2);
    CHECK(ring.size() == 2);
  }
  CHECK(ring.pop()->monotonic_ns == 8);
  CHECK(ring.push(numbered(10)) == nullptr);
  CHECK(ring.pop()->monotonic_ns == 9);
  CHECK(ring.pop()->monotonic_ns == 10);
}

TEST_CASE("a ring of one keeps the newest") {
  SnapshotRing ring(1);
  static_cast<void>(ring.push(numbered(1)));
  CHECK(ring.push(numbered(2))->monotonic_ns == 1);
  CHECK(ring.pop()->monotonic_ns == 2);
}

TEST_CASE("a snapshot shares with the one before what is as in it, and nothing else") {
  hmn::SharedParts before;
  hmn::Snapshot first = sample::full();
  hmn::Snapshot second = sample::full();
  before.share(first);
  before.share(second);
  CHECK(&*second.devices.at(0).identity == &*first.devices.at(0).identity);
  CHECK(&*second.why == &*first.why);
  hmn::Snapshot third = sample::full();
  third.devices.at(0).identity.edit().state = hmn::State::asleep;
  third.why.edit().diagnostics.clear();
  before.share(third);
  CHECK(third.devices.at(0).identity->state == hmn::State::asleep);
  CHECK(second.devices.at(0).identity->state == first.devices.at(0).identity->state);
  CHECK(second.devices.at(0).identity->state != hmn::State::asleep);
  CHECK(third.why->diagnostics.empty());
  CHECK_FALSE(second.why->diagnostics.empty());
  hmn::Snapshot fewer;
  before.share(fewer);
  hmn::Snapshot again = sample::full();
  before.share(again);
  CHECK(again.devices.size() == first.devices.size());
}
