// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "platform/recording.hpp"

using namespace hmn::platform;
using Mode = Recording::Mode;

TEST_CASE("recording: a program's output is recorded, and replayed without running it") {
  Recording recorder(Mode::record);
  Recording replayer(Mode::replay);
  Command echo{
      .path = "/bin/echo", .arguments = {"a", "b"}, .deadline_ns = UINT64_MAX, .output_cap = 100};
  {
    const OverrideScope scope(&recorder);
    CHECK(run(echo).output == "a b\n");
    CHECK(run(echo).output == "a b\n");
  }
  recorder.visit([&](const auto&, const auto& runs, const auto&) {
    REQUIRE(runs.size() == 1);
    replayer.add(runs[0]);
  });
  CHECK(replayer.has_runs());
  const OverrideScope scope(&replayer);
  const Outcome result = run(echo);
  CHECK(result.kind == Outcome::Kind::finished);
  CHECK(result.output == "a b\n");
  echo.arguments = {"a", "c"};
  CHECK(run(echo).kind == Outcome::Kind::not_found);
}
