// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/sampler.hpp"

#include <doctest/doctest.h>

#include "sample.hpp"

using hmn::Snapshot;
using hmn::SnapshotRing;

namespace {

std::unique_ptr<Snapshot> make_numbered(std::uint64_t number) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->monotonic_ns = number;
  return snapshot;
}

}  // namespace

TEST_CASE("snapshots are popped in the order in which they were pushed") {
  SnapshotRing ring(3);
  CHECK(ring.pop() == nullptr);
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(ring.push(make_numbered(n)) == nullptr);
  CHECK(ring.size() == 3);
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(ring.pop()->monotonic_ns == n);
  CHECK(ring.size() == 0);
  CHECK(ring.pop() == nullptr);
}

TEST_CASE("a full ring drops its oldest snapshot") {
  SnapshotRing ring(2);
  static_cast<void>(ring.push(make_numbered(1)));
  static_cast<void>(ring.push(make_numbered(2)));
  for (std::uint64_t n = 3; n <= 9; ++n) {
    const auto dropped = ring.push(make_numbered(n));
    REQUIRE(dropped);
    CHECK(dropped->monotonic_ns == n - 2);
    CHECK(ring.size() == 2);
  }
  CHECK(ring.pop()->monotonic_ns == 8);
  CHECK(ring.push(make_numbered(10)) == nullptr);
  CHECK(ring.pop()->monotonic_ns == 9);
  CHECK(ring.pop()->monotonic_ns == 10);
}

TEST_CASE("a ring of one keeps the newest snapshot") {
  SnapshotRing ring(1);
  static_cast<void>(ring.push(make_numbered(1)));
  CHECK(ring.push(make_numbered(2))->monotonic_ns == 1);
  CHECK(ring.pop()->monotonic_ns == 2);
}

TEST_CASE("a snapshot shares only unchanged parts with the previous one") {
  hmn::SharedParts parts;
  hmn::Snapshot first = sample::make_full_snapshot();
  hmn::Snapshot second = sample::make_full_snapshot();
  parts.share(first);
  parts.share(second);
  CHECK(&*second.devices.at(0).identity == &*first.devices.at(0).identity);
  CHECK(&*second.explanations == &*first.explanations);
  hmn::Snapshot third = sample::make_full_snapshot();
  third.devices.at(0).identity.edit().state = hmn::State::asleep;
  third.explanations.edit().diagnostics.clear();
  parts.share(third);
  CHECK(third.devices.at(0).identity->state == hmn::State::asleep);
  CHECK(second.devices.at(0).identity->state == first.devices.at(0).identity->state);
  CHECK(second.devices.at(0).identity->state != hmn::State::asleep);
  CHECK(third.explanations->diagnostics.empty());
  CHECK_FALSE(second.explanations->diagnostics.empty());
  hmn::Snapshot empty;
  parts.share(empty);
  hmn::Snapshot fourth = sample::make_full_snapshot();
  parts.share(fourth);
  CHECK(fourth.devices.size() == first.devices.size());
}
