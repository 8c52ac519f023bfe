// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/arguments.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::cli;

TEST_CASE("a word is chosen by its exact spelling") {
  constexpr std::string_view words[] = {"auto", "always", "never"};
  CHECK(*choose_word("--color", "auto", words) == 0);
  CHECK(*choose_word("--color", "never", words) == 2);
  for (const auto* wrong : {"Always", "", "auto ", "nev"}) {
    const auto result = choose_word("--color", wrong, words);
    REQUIRE_FALSE(result);
    CHECK(result.why().code == ExitCode::usage);
    CHECK(result.why().message ==
          std::string("--color \"") + wrong + "\": expected auto, always or never");
  }
}

namespace {

std::string refusal_of(std::string_view text) {
  const auto parsed = parse_duration(text);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.why().code == ExitCode::usage);
  return parsed.why().message;
}

std::uint64_t milliseconds_of(std::string_view text) {
  const auto parsed = parse_duration(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("a duration is a number of seconds, or with a unit") {
  CHECK(milliseconds_of("30") == 30'000);
  CHECK(milliseconds_of("00005") == 5'000);
  CHECK(milliseconds_of("500ms") == 500);
  CHECK(milliseconds_of("30s") == 30'000);
  CHECK(milliseconds_of("5m") == 300'000);
  CHECK(milliseconds_of("1h") == 3'600'000);
  CHECK(milliseconds_of(" 30s ") == 30'000);
  CHECK(milliseconds_of("00005s") == 5'000);
  CHECK(milliseconds_of("0.5") == 500);
  CHECK(milliseconds_of("0.29") == 290);
  CHECK(milliseconds_of("1.5h") == 5'400'000);
  CHECK(milliseconds_of("0.0014") == 1);
}

TEST_CASE("what is no duration is refused and named") {
  for (const std::string_view text :
       {"s", "30x", "5S", "5 s", "+5s", "-5s", "1.5.5h", "1h30m", "1_000", "1_000s", "1d", "5sec",
        "0", "0s", "0ms", "0.0004", "abc"})
    CHECK(refusal_of(text).find(std::string(text)) != std::string::npos);
  refusal_of("");
  refusal_of("   ");
}

TEST_CASE("a unit that is not known is named with those that are") {
  const auto message = refusal_of("1d");
  CHECK(message.find("\"d\"") != std::string::npos);
  CHECK(message.find("ms, s, m or h") != std::string::npos);
}

TEST_CASE("a numeral that ends too early is refused") {
  for (const std::string text : {"1.", "1.s", ".", "1..5"})
    CHECK(
        refusal_of(text) ==
        "\"" + text +
            "\": expected a number of seconds, or with a unit (ms, s, m or h), as in 0.5 or 500ms");
}

TEST_CASE("a duration past 64 bits is the longest") {
  CHECK(milliseconds_of("18446744073709551616") == 18446744073709551615u);
  CHECK(milliseconds_of("18446744073709551615h") == 18446744073709551615u);
}

namespace {

std::uint64_t bytes(std::string_view text) {
  const auto parsed = parse_size_argument(text);
  REQUIRE_MESSAGE(parsed, text);
  return *parsed;
}

std::string refused(std::string_view text) {
  const auto parsed = parse_size_argument(text);
  REQUIRE_FALSE_MESSAGE(parsed, text);
  CHECK(parsed.why().code == ExitCode::usage);
  return parsed.why().message;
}

}  // namespace

TEST_CASE("a size is a number and a unit") {
  CHECK(bytes("1B") == 1);
  CHECK(bytes("20GiB") == 20ull << 30);
  CHECK(bytes("512 MiB") == 512ull << 20);
  CHECK(bytes("8G") == 8ull << 30);
  CHECK(bytes("80GB") == 80'000'000'000);
  CHECK(bytes("1.5TiB") == 3ull << 39);
  CHECK(bytes("16777215TiB") == 16777215ull << 40);
}

TEST_CASE("a unit of a size is in any case, but m alone") {
  for (const char* gib : {"8g", "8G", "8gi", "8Gi", "8GI", "8gib", "8GIB", "8 giB"})
    CHECK(bytes(gib) == 8ull << 30);
  for (const char* gb : {"8gb", "8Gb", "8GB", "8gB"}) CHECK(bytes(gb) == 8'000'000'000);
  CHECK(bytes("8k") == 8192);
  CHECK(bytes("8kb") == 8000);
  CHECK(bytes("8b") == 8);
  CHECK(bytes("8mi") == 8ull << 20);
  CHECK(bytes("8M") == 8ull << 20);
  CHECK(refused("8m") == "\"8m\": did you mean 8M or 8MiB?");
  CHECK(refused("1.5 m") == "\"1.5 m\": did you mean 1.5M or 1.5MiB?");
}

TEST_CASE("a part of a byte is a whole one: the room must be enough") {
  CHECK(bytes("0.1B") == 1);
  CHECK(bytes("0.000001KiB") == 1);
  CHECK(bytes("1.000001KB") == 1001);
}

TEST_CASE("what is no size is named") {
  CHECK(refused("20").find("20GiB or 20MiB") != std::string::npos);
  for (const char* text :
       {"", "GiB", "-1GiB", "1e3B", "20 gibs", "20GiBs", "1.GiB", ".5GiB", "1.1234567GiB",
        "1..5GiB", "0GiB", "16777216TiB", "99999999999999999999999B", "20GiB "})
    CHECK(refused(text).find(text) != std::string::npos);
}

TEST_CASE("a pattern without wildcards matches itself") {
  CHECK(glob_matches("python3", "python3"));
  CHECK_FALSE(glob_matches("python", "python3"));
  CHECK_FALSE(glob_matches("python3", "python"));
  CHECK_FALSE(glob_matches("Python", "python"));
  CHECK(glob_matches("", ""));
  CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("* matches any text, also none") {
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("*", "anything"));
  CHECK(glob_matches("python*", "python"));
  CHECK(glob_matches("*.exe", "a.exe.exe"));
  CHECK(glob_matches("a*b*c", "axxbyybzzc"));
  CHECK_FALSE(glob_matches("a*b*c", "axxbyybzz"));
  CHECK(glob_matches("**", "x"));
}

TEST_CASE("? matches one code point") {
  CHECK(glob_matches("?", "x"));
  CHECK(glob_matches("?", "模"));
  CHECK_FALSE(glob_matches("?", ""));
  CHECK_FALSE(glob_matches("?", "xy"));
  CHECK(glob_matches("a?c", "abc"));
}

TEST_CASE("sets") {
  CHECK(glob_matches("[abc]", "b"));
  CHECK_FALSE(glob_matches("[abc]", "d"));
  CHECK(glob_matches("python[0-9]", "python3"));
  CHECK(glob_matches("[!0-9]", "x"));
  CHECK_FALSE(glob_matches("[!0-9]", "5"));
  CHECK(glob_matches("[^0-9]", "x"));
  CHECK(glob_matches("[]x]", "]"));
  CHECK(glob_matches("[a-]", "-"));
  CHECK(glob_matches("[\\]]", "]"));
  CHECK(glob_matches("[а-я]", "ж"));
}

TEST_CASE("a set that is never closed is text") {
  CHECK(glob_matches("[ab", "[ab"));
  CHECK_FALSE(glob_matches("[ab", "a"));
  CHECK(glob_matches("*[", "x["));
}

TEST_CASE("a backslash takes the next one literally") {
  CHECK(glob_matches("\\*", "*"));
  CHECK_FALSE(glob_matches("\\*", "x"));
  CHECK(glob_matches("a\\", "a\\"));
}

TEST_CASE("many stars do not take long") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  CHECK_FALSE(glob_matches(pattern + "b", std::string(2000, 'a')));
}
