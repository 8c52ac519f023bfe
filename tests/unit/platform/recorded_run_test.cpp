// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "platform/recording.hpp"

using namespace hmn::platform;
using Use = Recording::Use;

TEST_CASE("recording: a program's output is kept and given without starting it") {
  Recording kept(Use::keep);
  Recording again(Use::replay);
  Command echo{
      .path = "/bin/echo", .arguments = {"a", "b"}, .deadline_ns = UINT64_MAX, .output_cap = 100};
  {
    const OverrideScope scope(&kept);
    CHECK(run(echo).output == "a b\n");
    CHECK(run(echo).output == "a b\n");
  }
  kept.look([&](const auto&, const auto& runs, const auto&) {
    REQUIRE(runs.size() == 1);
    again.add(runs[0]);
  });
  CHECK(again.has_runs());
  const OverrideScope scope(&again);
  const Outcome reported = run(echo);
  CHECK(reported.what == Outcome::Kind::finished);
  CHECK(reported.output == "a b\n");
  echo.arguments = {"a", "c"};
  CHECK(run(echo).what == Outcome::Kind::not_found);
}
