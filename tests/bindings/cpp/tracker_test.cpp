// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <optional>

#include "machine.hpp"

using hypomnesis::status_code;
using hypomnesis::tracker;

static_assert(!std::is_copy_constructible_v<tracker>);
static_assert(std::is_nothrow_move_constructible_v<tracker>);
static_assert(std::is_nothrow_destructible_v<tracker>);

namespace {

tracker make_tracker(std::uint64_t bytes) {
  hypomnesis::tracker_options options;
  options.limit_bytes = bytes;
  return tracker(options);
}

}  // namespace

TEST_CASE("a tracker enforces its limit") {
  tracker t = make_tracker(1000);
  t.allocate(900);
  CHECK(catch_status([&] { t.allocate(200); }) == status_code::limit);
  CHECK(t.would_fit(100));
  CHECK_FALSE(t.would_fit(101));
  t.release(400);
  CHECK(catch_status([&] { t.release(501); }) == status_code::range);
  const hypomnesis::tracker_info info = t.info();
  CHECK(info.limit_bytes == 1000);
  CHECK(info.allocated_bytes == 500);
  CHECK(info.peak_bytes == 900);
  CHECK(info.refused_count == 1);
  CHECK_FALSE(info.device_index.has_value());
  CHECK(catch_status([&] { t.set_limit(499); }) == status_code::limit);
  t.set_limit(std::nullopt);
  CHECK_FALSE(t.info().limit_bytes.has_value());
  t.reset();
  CHECK(t.info().peak_bytes == 0);
}

TEST_CASE("a limit of zero allows nothing") {
  CHECK(catch_status([] { make_tracker(0).allocate(1); }) == status_code::limit);
  tracker t;
  t.set_limit(0);
  CHECK(t.info().limit_bytes == 0);
  CHECK(catch_status([&] { t.allocate(1); }) == status_code::limit);
}

TEST_CASE("a tag counts its own bytes") {
  tracker t;
  const std::uint32_t weights = t.tag("weights");
  CHECK(t.tag("weights") == weights);
  t.allocate(300, weights);
  t.release(100, weights);
  const hypomnesis::tag tag = t.tag_info(weights);
  CHECK(tag.name == "weights");
  CHECK(tag.number == weights);
  CHECK(tag.allocated_bytes == 200);
  CHECK(tag.peak_bytes == 300);
  CHECK(t.info().tag_count == 1);
  CHECK(catch_status([&] { t.allocate(1, 2); }) == status_code::range);
}

TEST_CASE("a linked tracker reads its device and outlives its context") {
  std::optional<hypomnesis::context> context(open_machine("small.json"));
  tracker t = context->track(0);
  const hypomnesis::pool main = context->pool(0);
  context.reset();
  const std::uint64_t usable = main.usable_bytes ? *main.usable_bytes : *main.free_bytes;
  CHECK(t.info().device_index == 0);
  CHECK(t.would_fit(usable));
  CHECK_FALSE(t.would_fit(usable + 1));
}

TEST_CASE("a closed tracker throws closed") {
  tracker t;
  t.close();
  t.close();
  CHECK_FALSE(t.is_open());
  CHECK_THROWS_AS(t.allocate(1), hypomnesis::closed);
}
