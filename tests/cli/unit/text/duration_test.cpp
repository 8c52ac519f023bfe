// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/duration.hpp"

#include <doctest/doctest.h>

#include <string>

using hmn::cli::exit_code;
using hmn::cli::parse_duration;

namespace {

std::string refusal_of(std::string_view text) {
  const auto parsed = parse_duration(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.why().code == exit_code::usage);
  return parsed.why().message;
}

std::uint64_t milliseconds_of(std::string_view text) {
  const auto parsed = parse_duration(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("a duration is a whole number and a unit") {
  CHECK(milliseconds_of("500ms") == 500);
  CHECK(milliseconds_of("30s") == 30'000);
  CHECK(milliseconds_of("5m") == 300'000);
  CHECK(milliseconds_of("1h") == 3'600'000);
  CHECK(milliseconds_of(" 30s ") == 30'000);
  CHECK(milliseconds_of("00005s") == 5'000);
}

TEST_CASE("a bare number is refused with both of its readings") {
  CHECK(refusal_of("30") == "30: did you mean 30s or 30ms?");
  CHECK(refusal_of("00005") == "00005: did you mean 00005s or 00005ms?");
  refusal_of("0");
  refusal_of("18446744073709551616");
}

TEST_CASE("what is no duration is refused and named") {
  for (const std::string_view text : {"s", "30x", "5S", "5 s", "+5s", "-5s", "1.5h", "1h30m",
                                      "1_000", "1_000s", "1d", "5sec", "0s", "0ms", "abc"})
    CHECK(refusal_of(text).find(std::string(text)) != std::string::npos);
  refusal_of("");
  refusal_of("   ");
}

TEST_CASE("a unit that is not known is named with those that are") {
  const auto message = refusal_of("1d");
  CHECK(message.find("\"d\"") != std::string::npos);
  CHECK(message.find("ms, s, m or h") != std::string::npos);
}

TEST_CASE("a number with decimals is refused for its decimals, not for its unit") {
  for (const std::string text : {"0.05", "1.5h", "0.5s", "1."})
    CHECK(refusal_of(text) ==
          "\"" + text + "\": expected a whole number and a unit (ms, s, m or h), as in 500ms");
}

TEST_CASE("numbers past 64 bits are refused, products past them saturate") {
  CHECK(refusal_of("18446744073709551616s") ==
        "\"18446744073709551616s\": 18446744073709551616 is too large");
  CHECK(milliseconds_of("18446744073709551615h") == 18446744073709551615u);
}
