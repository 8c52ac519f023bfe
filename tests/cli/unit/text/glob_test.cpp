// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/glob.hpp"

#include <doctest/doctest.h>

#include <string>

using hmn::cli::glob_matches;

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
