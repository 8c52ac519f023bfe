// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "cli/units.hpp"
#include "model/decimal.hpp"

namespace hmn::cli {

std::string format_ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : "-", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string format_gib(std::uint64_t bytes) {
  constexpr double bytes_per_gib = 1ull << 30;
  constexpr double min_decimal = 0.05, max_decimal = 999.95;
  const double gib = static_cast<double>(bytes) / bytes_per_gib;
  if (bytes == 0) return "0";
  if (gib < min_decimal) return "<0.1";
  return fmt::format("{:.{}f}", gib, gib < max_decimal ? 1 : 0);
}

std::string format_gib(std::string_view mark, std::uint64_t bytes) {
  const auto text = format_gib(bytes);
  if (mark == ">=" && text.front() == '<') return ">0";
  return std::string(mark) + text;
}

namespace {

constexpr double powers_of_ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// Returns whether one operation rounds as parsing the numeral would: both operands are exact.
bool has_exact_factor(double value, int places) {
  constexpr double exact_integer_limit = 1ULL << 53;
  return std::abs(places) < int{std::size(powers_of_ten)} &&
         std::abs(value) < exact_integer_limit && value == std::trunc(value);
}

}  // namespace

double move_decimal_point(double value, int places) {
  if (places == 0 || !std::isfinite(value)) return value;
  if (has_exact_factor(value, places))
    return places < 0 ? value / powers_of_ten[-places] : value * powers_of_ten[places];
  char buffer[32];
  const std::string_view numeral(buffer,
                                 static_cast<std::size_t>(write_shortest(buffer, value) - buffer));
  const auto exponent_position = std::min(numeral.find('e'), numeral.size());
  auto exponent_text = numeral.substr(std::min(exponent_position + 1, numeral.size()));
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const auto moved_numeral =
      fmt::format("{}e{}", numeral.substr(0, exponent_position), exponent + places);
  return read_decimal(moved_numeral).value_or(value * std::pow(10, places));
}

namespace {

constexpr std::string_view byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

struct ByteUnit {
  double size = 1;
  std::string_view name = byte_units[0];
};

ByteUnit choose_byte_unit(double bytes) {
  ByteUnit unit;
  for (std::size_t i = 1; i < std::size(byte_units) && bytes >= 1024 * unit.size; ++i)
    unit = {unit.size * 1024, byte_units[i]};
  return unit;
}

// Returns 1, 2 or 5 times a power of ten.
double choose_round_step(double minimum) {
  const double power = std::pow(10.0, std::floor(std::log10(minimum)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= minimum * 0.999) return factor * power;
  return 10 * power;
}

// Steps in seconds that are common in time scales.
constexpr double time_steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};

double choose_time_step(double minimum_s) {
  if (minimum_s < 1) return choose_round_step(minimum_s);
  for (const double step : time_steps)
    if (step >= minimum_s * 0.999) return step;
  return choose_round_step(minimum_s / 86400) * 86400;
}

std::string format_time_label(double seconds, double step) {
  if (step >= 1) return format_offset(static_cast<std::uint64_t>(seconds * ns_per_s));
  return fmt::format("{:.{}f} s", seconds, count_decimals(step));
}

}  // namespace

int count_decimals(double step_s) noexcept {
  int decimals = 1;
  for (double precision = 0.1; precision > step_s * 1.001 && decimals < 9; precision /= 10)
    ++decimals;
  return decimals;
}

std::string format_offset(std::uint64_t offset_ns) {
  const double seconds = static_cast<double>(offset_ns) / ns_per_s;
  if (seconds < 10 && std::fmod(seconds, 1) != 0) return fmt::format("{:.1f} s", seconds);
  if (seconds < 60) return fmt::format("{:.0f} s", std::floor(seconds));
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_short_bytes(double bytes) {
  const auto unit = choose_byte_unit(bytes);
  const double number = bytes / unit.size;
  const int decimals = unit.size == 1 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, decimals, unit.name);
}

std::vector<Tick> make_byte_ticks(double highest, unsigned count) {
  const auto unit = choose_byte_unit(highest);
  const double step = choose_round_step(std::max(highest, 1.0) / unit.size / count);
  std::vector<Tick> ticks;
  for (unsigned i = 0; i * step * unit.size <= highest * 1.0001; ++i)
    ticks.push_back(
        {i * step * unit.size, i == 0 ? "0" : fmt::format("{:g} {}", i * step, unit.name)});
  return ticks;
}

std::vector<Tick> make_number_ticks(double highest, unsigned count, const char* unit) {
  const double step = choose_round_step(std::max(highest, 1.0) / count);
  std::vector<Tick> ticks;
  for (unsigned i = 0; i * step <= highest * 1.0001; ++i)
    ticks.push_back({i * step, i == 0 ? "0" : fmt::format("{:g} {}", i * step, unit)});
  return ticks;
}

std::vector<Tick> make_time_ticks(double duration_ns, unsigned count) {
  const double seconds = std::max(duration_ns / ns_per_s, 1e-3);
  const double step = choose_time_step(seconds / count);
  std::vector<Tick> ticks;
  for (unsigned i = 0; i * step <= seconds * 1.0001; ++i)
    ticks.push_back({i * step * ns_per_s, i == 0 ? "0" : format_time_label(i * step, step)});
  return ticks;
}

}  // namespace hmn::cli
