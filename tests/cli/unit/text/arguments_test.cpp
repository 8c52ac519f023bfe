// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/arguments.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::cli;

TEST_CASE("a word must be spelled exactly") {
  constexpr std::string_view words[] = {"auto", "always", "never"};
  CHECK(*choose_word("--color", "auto", words) == 0);
  CHECK(*choose_word("--color", "never", words) == 2);
  for (const auto* word : {"Always", "", "auto ", "nev"}) {
    const auto result = choose_word("--color", word, words);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ExitCode::usage);
    CHECK(result.error().message ==
          std::string("--color \"") + word + "\": expected auto, always or never");
  }
}

namespace {

std::string duration_error(std::string_view text) {
  const auto duration = parse_duration(text);
  REQUIRE_FALSE(duration);
  CHECK(duration.error().code == ExitCode::usage);
  return duration.error().message;
}

std::uint64_t parse_milliseconds(std::string_view text) {
  const auto duration = parse_duration(text);
  REQUIRE(duration);
  return *duration;
}

}  // namespace

TEST_CASE("a duration is a number of seconds or has a unit") {
  CHECK(parse_milliseconds("30") == 30'000);
  CHECK(parse_milliseconds("00005") == 5'000);
  CHECK(parse_milliseconds("500ms") == 500);
  CHECK(parse_milliseconds("30s") == 30'000);
  CHECK(parse_milliseconds("5m") == 300'000);
  CHECK(parse_milliseconds("1h") == 3'600'000);
  CHECK(parse_milliseconds(" 30s ") == 30'000);
  CHECK(parse_milliseconds("00005s") == 5'000);
  CHECK(parse_milliseconds("0.5") == 500);
  CHECK(parse_milliseconds("0.29") == 290);
  CHECK(parse_milliseconds("1.5h") == 5'400'000);
  CHECK(parse_milliseconds("0.0014") == 1);
}

TEST_CASE("an invalid duration is refused and quoted") {
  for (const std::string_view text :
       {"s", "30x", "5S", "5 s", "+5s", "-5s", "1.5.5h", "1h30m", "1_000", "1_000s", "1d", "5sec",
        "0", "0s", "0ms", "0.0004", "abc"})
    CHECK(duration_error(text).find(std::string(text)) != std::string::npos);
  duration_error("");
  duration_error("   ");
}

TEST_CASE("an unknown unit is refused with a list of the known ones") {
  const auto message = duration_error("1d");
  CHECK(message.find("\"d\"") != std::string::npos);
  CHECK(message.find("ms, s, m or h") != std::string::npos);
}

TEST_CASE("an incomplete number is refused") {
  for (const std::string text : {"1.", "1.s", ".", "1..5"})
    CHECK(
        duration_error(text) ==
        "\"" + text +
            "\": expected a number of seconds, or with a unit (ms, s, m or h), as in 0.5 or 500ms");
}

TEST_CASE("a duration beyond 64 bits saturates") {
  CHECK(parse_milliseconds("18446744073709551616") == 18446744073709551615u);
  CHECK(parse_milliseconds("18446744073709551615h") == 18446744073709551615u);
}

namespace {

std::uint64_t parse_bytes(std::string_view text) {
  const auto size = parse_size_argument(text);
  REQUIRE_MESSAGE(size, text);
  return *size;
}

std::string size_error(std::string_view text) {
  const auto size = parse_size_argument(text);
  REQUIRE_FALSE_MESSAGE(size, text);
  CHECK(size.error().code == ExitCode::usage);
  return size.error().message;
}

}  // namespace

TEST_CASE("a size is a number with a unit") {
  CHECK(parse_bytes("1B") == 1);
  CHECK(parse_bytes("20GiB") == 20ull << 30);
  CHECK(parse_bytes("512 MiB") == 512ull << 20);
  CHECK(parse_bytes("8G") == 8ull << 30);
  CHECK(parse_bytes("80GB") == 80'000'000'000);
  CHECK(parse_bytes("1.5TiB") == 3ull << 39);
  CHECK(parse_bytes("16777215TiB") == 16777215ull << 40);
}

TEST_CASE("size units are case-insensitive, but a lone m is refused") {
  for (const char* text : {"8g", "8G", "8gi", "8Gi", "8GI", "8gib", "8GIB", "8 giB"})
    CHECK(parse_bytes(text) == 8ull << 30);
  for (const char* text : {"8gb", "8Gb", "8GB", "8gB"}) CHECK(parse_bytes(text) == 8'000'000'000);
  CHECK(parse_bytes("8k") == 8192);
  CHECK(parse_bytes("8kb") == 8000);
  CHECK(parse_bytes("8b") == 8);
  CHECK(parse_bytes("8mi") == 8ull << 20);
  CHECK(parse_bytes("8M") == 8ull << 20);
  CHECK(size_error("8m") == "\"8m\": did you mean 8M or 8MiB?");
  CHECK(size_error("1.5 m") == "\"1.5 m\": did you mean 1.5M or 1.5MiB?");
}

TEST_CASE("a fraction of a byte is rounded up") {
  CHECK(parse_bytes("0.1B") == 1);
  CHECK(parse_bytes("0.000001KiB") == 1);
  CHECK(parse_bytes("1.000001KB") == 1001);
}

TEST_CASE("an invalid size is refused and quoted") {
  CHECK(size_error("20").find("20GiB or 20MiB") != std::string::npos);
  for (const char* text :
       {"", "GiB", "-1GiB", "1e3B", "20 gibs", "20GiBs", "1.GiB", ".5GiB", "1.1234567GiB",
        "1..5GiB", "0GiB", "16777216TiB", "99999999999999999999999B", "20GiB "})
    CHECK(size_error(text).find(text) != std::string::npos);
}

TEST_CASE("a pattern without wildcards matches itself") {
  CHECK(glob_matches("python3", "python3"));
  CHECK_FALSE(glob_matches("python", "python3"));
  CHECK_FALSE(glob_matches("python3", "python"));
  CHECK_FALSE(glob_matches("Python", "python"));
  CHECK(glob_matches("", ""));
  CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("* matches any text, including none") {
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

TEST_CASE("a bracket set matches one code point by list, range or negation") {
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

TEST_CASE("an unclosed bracket is literal text") {
  CHECK(glob_matches("[ab", "[ab"));
  CHECK_FALSE(glob_matches("[ab", "a"));
  CHECK(glob_matches("*[", "x["));
}

TEST_CASE("a backslash makes the next character literal") {
  CHECK(glob_matches("\\*", "*"));
  CHECK_FALSE(glob_matches("\\*", "x"));
  CHECK(glob_matches("a\\", "a\\"));
}

TEST_CASE("a pattern with many stars is matched quickly") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  CHECK_FALSE(glob_matches(pattern + "b", std::string(2000, 'a')));
}
