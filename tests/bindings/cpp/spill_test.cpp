// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

using hypomnesis::spill;
using hypomnesis::spill_rule;
using hypomnesis::spill_state;
using hypomnesis::status_code;

static_assert(!std::is_copy_constructible_v<spill>);
static_assert(std::is_nothrow_move_constructible_v<spill>);

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("a detector reports a spill of its device with a current and a latched state") {
  const hypomnesis::context context = open_machine("spill.json");
  spill s = context.detect_spill(0);
  s.observe("begin");
  CHECK(s.info().state == spill_state::measurable);
  s.observe("step 1");
  CHECK(s.info().rules == spill_rule::shared);
  s.observe("step 2");
  const auto info = s.info();
  CHECK(info.state == (spill_state::measurable | spill_state::ever));
  CHECK(info.episode_count == 1);
  CHECK(info.first_label == "step 1");
  CHECK(info.baseline_shared_bytes == 128 * mib);
  CHECK(info.peak_shared_bytes == 384 * mib);
  CHECK_FALSE(info.evicted_bytes);
  const auto episode = s.episode(0);
  CHECK(episode.end_label == "step 2");
  CHECK(episode.duration_ns == 0);
  CHECK(catch_status([&] { s.episode(1); }) == status_code::range);
}

TEST_CASE("a detector of an unmeasurable device reports why and accepts fed samples") {
  const hypomnesis::context context = open_machine("spill.json");
  spill s = context.detect_spill(1);
  CHECK(catch_status([&] { s.observe(""); }) == status_code::unsupported);
  CHECK(s.info().status == status_code::unsupported);
  CHECK_FALSE(s.info().message.empty());
  CHECK_FALSE(s.info().dedicated_bytes);
  hypomnesis::spill_sample sample;
  sample.evicted_bytes = 0;
  s.feed(sample, "calm");
  sample.evicted_bytes = 256 * mib;
  s.feed(sample, "full");
  CHECK(s.info().rules == spill_rule::evicted);
  CHECK_FALSE(s.episode(0).end_label);
}

TEST_CASE("a detector without a context observes snapshots") {
  const hypomnesis::context context = open_machine("spill.json");
  spill s = spill::fed();
  for (int i = 0; i < 3; ++i)
    s.observe(context.take(hypomnesis::part::pools | hypomnesis::part::processes), "taken");
  CHECK(s.info().observation_count == 3);
  CHECK(s.info().episode_count == 1);
  CHECK(catch_status([&] { s.observe(context.take(hypomnesis::part::devices), ""); }) ==
        status_code::empty);
  s.close();
  CHECK_THROWS_AS(s.info(), hypomnesis::closed);
}
