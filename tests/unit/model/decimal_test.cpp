// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/decimal.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <locale.h>
#include <stdlib.h>

#include <cstdarg>
#include <cstdio>

// macOS has snprintf_l, and a strtod_l that accepts NULL for the C locale; glibc has neither.
namespace {

locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

[[gnu::format(printf, 4, 5)]] int snprintf_l(char* out, std::size_t size, std::nullptr_t,
                                             const char* format, ...) {
  const locale_t before = uselocale(c_locale());
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(out, size, format, arguments);
  va_end(arguments);
  uselocale(before);
  return length;
}

double strtod_l(const char* text, char** end, std::nullptr_t) {
  return ::strtod_l(text, end, c_locale());
}

}  // namespace

#include "model/c_locale_decimal.hpp"

namespace {

namespace in_c = hmn::of_c_locale;

std::string shortest_text(double value) {
  std::array<char, 32> text;
  return {text.data(), in_c::write_shortest(text.data(), value)};
}

std::string fixed_text(double value, int decimals) {
  std::array<char, 384> text;
  return {text.data(), in_c::write_fixed(text.data(), text.data() + text.size(), value, decimals)};
}

std::string runtime_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string runtime_text(double value, int decimals) {
  std::array<char, 384> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::fixed, decimals)
                           .ptr};
}

std::optional<double> read_with_runtime(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Random bit patterns, which are doubles of every magnitude.
class RandomDouble {
 public:
  double operator()() {
    for (;;) {
      const auto value = std::bit_cast<double>(bits_());
      if (std::isfinite(value)) return value;
    }
  }

 private:
  std::mt19937_64 bits_{20240607};
};

bool is_same(std::optional<double> first, std::optional<double> second) {
  if (!first || !second) return !first && !second;
  return std::bit_cast<std::uint64_t>(*first) == std::bit_cast<std::uint64_t>(*second);
}

}  // namespace

TEST_CASE("a numeral is read as the nearest double, as the C++ runtime does") {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "-1.5",
                           "0.1",
                           "1e22",
                           "1e23",
                           "123456789012345678",
                           "9007199254740993",
                           "9007199254740993.00000000000000000000001",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "0.000000000000000000000000000000001",
                           "100000000000000000000000",
                           "8.5",
                           "1E+5",
                           "0.0e9999999999",
                           "6.02214076e23"}) {
    CAPTURE(text);
    CHECK(is_same(in_c::read_decimal(text), read_with_runtime(text)));
    CHECK(is_same(hmn::read_decimal(text), read_with_runtime(text)));
  }
}

TEST_CASE("digits beyond the precision of a double still decide the rounding") {
  const std::string half = "9007199254740993";  // between two doubles, of which the lower is even
  const std::string zeros(2000, '0');
  CHECK(in_c::read_decimal(half + "." + zeros) == 9007199254740992.0);
  CHECK(in_c::read_decimal(half + "." + zeros + "1") == 9007199254740994.0);
  CHECK(in_c::read_decimal("0." + zeros + "25e2000") == 0.25);
  CHECK(in_c::read_decimal("25" + zeros + "e-2002") == 0.25);
}

TEST_CASE("numerals out of range and invalid ones are refused") {
  for (const char* text :
       {"1e309", "-1.7976931348623159e308", "1e-400", "-2.4e-324", "", "-", ".", "e5", "1e", "1e+",
        "1x", "nan", "inf", " 1", "1 ", "+1", "0x1", "1,5", "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(in_c::read_decimal(text).has_value());
  }
  CHECK_FALSE(hmn::read_decimal("1e309").has_value());
  CHECK_FALSE(hmn::read_decimal("1e-400").has_value());
  CHECK_FALSE(hmn::read_decimal("1.5x").has_value());
}

TEST_CASE("random numerals are read as the C++ runtime reads them") {
  RandomDouble random;
  for (int i = 0; i < 5000; ++i) {
    std::array<char, 64> text;
    const double value = random();
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::scientific, i % 20);
    const std::string_view numeral(text.data(), end.ptr);
    CAPTURE(numeral);
    REQUIRE(is_same(in_c::read_decimal(numeral), read_with_runtime(numeral)));
  }
}

TEST_CASE("the shortest text equals that of the C++ runtime") {
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             -1.5,
                             0.1,
                             1e5,
                             100001.0,
                             123456.0,
                             1e-5,
                             0.0001,
                             0.001,
                             1e21,
                             1e22,
                             1e23,
                             123456789012345680.0,
                             9007199254740992.0,
                             4.9e-324,
                             DBL_MAX,
                             DBL_MIN,
                             62.5,
                             1234.5678}) {
    CAPTURE(value);
    CHECK(shortest_text(value) == runtime_text(value));
  }
}

TEST_CASE("the shortest text reads back as the same value") {
  RandomDouble random;
  for (int i = 0; i < (HMN_TEST_SLOW != 0 ? 2000 : 20000); ++i) {
    const double value = random();
    CAPTURE(value);
    REQUIRE(shortest_text(value) == runtime_text(value));
    REQUIRE(is_same(in_c::read_decimal(shortest_text(value)), value));
  }
}

TEST_CASE("a fixed number of decimals is rounded as the C++ runtime rounds it") {
  for (const double value :
       {0.0, -0.0, 0.05, 0.5, 1.5, 2.5, 0.125, -3.999, 1e15, 999.96, DBL_MAX}) {
    for (int decimals = 0; decimals < 4; ++decimals) {
      CAPTURE(value);
      CAPTURE(decimals);
      CHECK(fixed_text(value, decimals) == runtime_text(value, decimals));
    }
  }
}

TEST_CASE("the locale does not affect numerals") {
  const char* locale = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"}) {
    if (locale == nullptr) locale = std::setlocale(LC_ALL, name);
  }
  CHECK(shortest_text(-1.25) == "-1.25");
  CHECK(shortest_text(1.5e-9) == "1.5e-09");
  CHECK(fixed_text(1.25, 1) == "1.2");
  CHECK(in_c::read_decimal("1.25") == 1.25);
  std::setlocale(LC_ALL, "C");
  if (locale == nullptr) MESSAGE("no locale with another point is on this machine");
}
