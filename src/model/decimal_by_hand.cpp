// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/decimal_by_hand.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "model/natural.hpp"

namespace hmn::by_hand {
namespace {

constexpr int mantissa_bits = 53;
constexpr int least_exponent = -1022;
// Limit of the kept digits: further ones cannot change the nearest double, as long as it is known
// that they exist.
constexpr std::size_t most_digits = 800;
constexpr int certainly_too_great = 400;
constexpr int certainly_too_small = -400;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// digits * 10^exponent
struct decimal {
  bool is_negative = false;
  std::string digits;  // without leading zeros
  int exponent = 0;
};

class numeral_reader {
 public:
  explicit numeral_reader(std::string_view text) noexcept : text_(text) {}

  std::optional<decimal> read() {
    decimal read;
    read.is_negative = take('-');
    std::size_t count = digits(read, 0);
    if (take('.')) count += digits(read, -1);
    if (count == 0 || !exponent(read.exponent) || !text_.empty()) return {};
    if (is_cut_) read.digits += '1';
    return read;
  }

 private:
  bool take(char c) noexcept {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::size_t digits(decimal& to, int step) {
    std::size_t count = 0;
    for (; !text_.empty() && is_digit(text_.front()); ++count) {
      add(to, text_.front(), step);
      text_.remove_prefix(1);
    }
    return count;
  }

  // Appends a digit. One that is not kept raises the exponent by one.
  void add(decimal& to, char digit, int step) {
    to.exponent += step;
    if (to.digits.empty() && digit == '0') return;
    if (to.digits.size() < most_digits) {
      to.digits += digit;
      return;
    }
    if (digit != '0' && !is_cut_) {
      is_cut_ = true;  // a final 1 represents the cut digits
      return;
    }
    to.exponent += 1;
  }

  bool exponent(int& sum) noexcept {
    if (!take('e') && !take('E')) return true;
    const bool is_signed = take('+');
    const bool is_below_zero = !is_signed && take('-');
    constexpr int limit = 100'000;
    int value = 0;
    if (text_.empty() || !is_digit(text_.front())) return false;
    for (; !text_.empty() && is_digit(text_.front()); text_.remove_prefix(1)) {
      value = std::min(limit, value * 10 + (text_.front() - '0'));
    }
    sum += is_below_zero ? -value : value;
    return true;
  }

  std::string_view text_;
  bool is_cut_ = false;
};

// Returns the next binary digit of `over / under`, which is below 2.
bool next_bit(natural& over, const natural& under) {
  const bool bit = !over.is_below(under);
  if (bit) over.subtract(under);
  over.shift_left(1);
  return bit;
}

// Returns the double nearest to `over / under`, ties to even; none on 0 or overflow.
std::optional<double> nearest(natural over, natural under) {
  int exponent = static_cast<int>(over.bits()) - static_cast<int>(under.bits());
  if (exponent > 0) under.shift_left(static_cast<std::size_t>(exponent));
  if (exponent < 0) over.shift_left(static_cast<std::size_t>(-exponent));
  if (over.is_below(under)) {
    over.shift_left(1);
    exponent -= 1;
  }
  const int bits = mantissa_bits - std::max(0, least_exponent - exponent);
  if (bits < 0) return {};
  std::uint64_t mantissa = 0;
  for (int i = 0; i < bits; ++i) mantissa = mantissa * 2 + (next_bit(over, under) ? 1 : 0);
  const bool is_half = next_bit(over, under);
  if (is_half && (!over.is_zero() || mantissa % 2 != 0)) mantissa += 1;
  const double value = std::ldexp(static_cast<double>(mantissa), exponent - bits + 1);
  if (value == 0 || std::isinf(value)) return {};
  return value;
}

std::optional<double> magnitude(const decimal& d) {
  const int point = static_cast<int>(d.digits.size()) + d.exponent;
  if (d.digits.empty()) return 0.0;
  if (point > certainly_too_great || point < certainly_too_small) return {};
  natural over;
  natural under(1);
  for (const char digit : d.digits) {
    over.multiply_add(10, static_cast<std::uint32_t>(digit - '0'));
  }
  if (d.exponent > 0) over.multiply_by_ten(static_cast<unsigned>(d.exponent));
  if (d.exponent < 0) under.multiply_by_ten(static_cast<unsigned>(-d.exponent));
  return nearest(std::move(over), std::move(under));
}

// Reads the digits from the C library's output, without the decimal point of its locale.
decimal rounded(double value, int digits) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*e", digits - 1, value);
  const char* const e = std::strchr(text.data(), 'e');
  decimal d;
  d.is_negative = std::signbit(value);
  std::copy_if(static_cast<const char*>(text.data()), e, std::back_inserter(d.digits), is_digit);
  const bool is_plus = e[1] == '+';
  std::from_chars(e + (is_plus ? 2 : 1), e + std::strlen(e), d.exponent);
  d.exponent -= digits - 1;
  while (d.digits.size() > 1 && d.digits.back() == '0') {
    d.digits.pop_back();
    d.exponent += 1;
  }
  return d;
}

decimal shortest(double value) {
  const int always_kept = std::fabs(value) < DBL_MIN ? 1 : DBL_DIG;
  constexpr int always_enough = 17;
  for (int digits = always_kept; digits < always_enough; ++digits) {
    decimal d = rounded(value, digits);
    if (magnitude(d) == std::fabs(value)) return d;
  }
  return rounded(value, always_enough);
}

std::string as_scientific(const decimal& d) {
  const int exponent = d.exponent + static_cast<int>(d.digits.size()) - 1;
  std::string text(1, d.digits.front());
  if (d.digits.size() > 1) text.append(1, '.').append(d.digits, 1);
  text += exponent < 0 ? "e-" : "e+";
  const std::string size = std::to_string(exponent < 0 ? -exponent : exponent);
  return text.append(size.size() < 2 ? "0" : "").append(size);
}

std::string as_fixed(const decimal& d, double value) {
  if (d.exponent >= 0) {
    std::array<char, 384> whole;
    std::snprintf(whole.data(), whole.size(), "%.0f", std::fabs(value));
    return whole.data();
  }
  const auto after_point = static_cast<std::size_t>(-d.exponent);
  std::string text = d.digits;
  if (text.size() <= after_point) text.insert(0, after_point + 1 - text.size(), '0');
  return text.insert(text.size() - after_point, 1, '.');
}

char* copy(std::string_view text, char* to) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

std::optional<double> read_decimal(std::string_view numeral) {
  const std::optional<decimal> d = numeral_reader(numeral).read();
  if (!d) return {};
  const std::optional<double> value = magnitude(*d);
  if (!value) return {};
  return d->is_negative ? -*value : *value;
}

char* write_shortest(char* first, double value) {
  if (std::signbit(value)) *first++ = '-';
  if (value == 0) return copy("0", first);
  const decimal d = shortest(value);
  const std::string scientific = as_scientific(d);
  constexpr int longest_fixed = 32;
  const int point = d.exponent + static_cast<int>(d.digits.size());
  if (point > longest_fixed || point < -longest_fixed) return copy(scientific, first);
  const std::string fixed = as_fixed(d, value);
  return copy(fixed.size() <= scientific.size() ? fixed : scientific, first);
}

char* write_fixed(char* first, char* last, double value, int decimals) noexcept {
  std::array<char, 384> text;
  const int written = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  const auto size = std::min(static_cast<std::size_t>(std::max(written, 0)), text.size() - 1);
  const std::string_view all(text.data(), size);
  if (decimals == 0 || !std::isfinite(value)) return copy(all, first);
  const std::size_t whole = std::min(all.find_first_not_of("-0123456789"), size);
  const auto after_point = static_cast<std::size_t>(decimals);
  if (whole + 1 + after_point > static_cast<std::size_t>(last - first)) return first;
  char* const point = copy(all.substr(0, whole), first);
  *point = '.';
  return copy(all.substr(size - after_point), point + 1);
}

}  // namespace hmn::by_hand
