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

std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
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

std::string gib_text(std::uint64_t bytes) {
  constexpr double bytes_per_gib = 1ull << 30;
  constexpr double least_shown = 0.05, from_whole = 999.95;
  const double gib = static_cast<double>(bytes) / bytes_per_gib;
  if (bytes == 0) return "0";
  if (gib < least_shown) return "<0.1";
  return fmt::format("{:.{}f}", gib, gib < from_whole ? 1 : 0);
}

std::string gib_text(std::string_view mark, std::uint64_t bytes) {
  const auto text = gib_text(bytes);
  if (mark == ">=" && text.front() == '<') return ">0";
  return std::string(mark) + text;
}

namespace {

constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// Returns whether one operation rounds as reading the numeral would: both operands are exact.
bool has_exact_factor(double value, int places) {
  constexpr double whole_below = 1ULL << 53;
  return std::abs(places) < int{std::size(powers)} && std::abs(value) < whole_below &&
         value == std::trunc(value);
}

}  // namespace

double move_decimal_point(double value, int places) {
  if (places == 0 || !std::isfinite(value)) return value;
  if (has_exact_factor(value, places))
    return places < 0 ? value / powers[-places] : value * powers[places];
  char shortest[32];
  const std::string_view numeral(
      shortest, static_cast<std::size_t>(write_shortest(shortest, value) - shortest));
  const auto mark = std::min(numeral.find('e'), numeral.size());
  auto power = numeral.substr(std::min(mark + 1, numeral.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  const auto moved = fmt::format("{}e{}", numeral.substr(0, mark), exponent + places);
  return read_decimal(moved).value_or(value * std::pow(10, places));
}

namespace {

constexpr std::string_view byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

struct ByteUnit {
  double size = 1;
  std::string_view name = byte_units[0];
};

ByteUnit unit_for(double bytes) {
  ByteUnit unit;
  for (std::size_t i = 1; i < std::size(byte_units) && bytes >= 1024 * unit.size; ++i)
    unit = {unit.size * 1024, byte_units[i]};
  return unit;
}

// Returns 1, 2 or 5 times a power of ten.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}

// Steps in seconds that are common in time scales.
constexpr double time_steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};

double time_step(double least_s) {
  if (least_s < 1) return round_step(least_s);
  for (const double each : time_steps)
    if (each >= least_s * 0.999) return each;
  return round_step(least_s / 86400) * 86400;
}

std::string time_label(double seconds, double step) {
  if (step >= 1) return offset_text(static_cast<std::uint64_t>(seconds * ns_per_s));
  return fmt::format("{:.{}f} s", seconds, decimals_of(step));
}

}  // namespace

int decimals_of(double step_s) noexcept {
  int decimals = 1;
  for (double least = 0.1; least > step_s * 1.001 && decimals < 9; least /= 10) ++decimals;
  return decimals;
}

std::string offset_text(std::uint64_t offset_ns) {
  const double seconds = static_cast<double>(offset_ns) / ns_per_s;
  if (seconds < 10 && std::fmod(seconds, 1) != 0) return fmt::format("{:.1f} s", seconds);
  if (seconds < 60) return fmt::format("{:.0f} s", std::floor(seconds));
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string short_bytes(double bytes) {
  const auto unit = unit_for(bytes);
  const double number = bytes / unit.size;
  const int decimals = unit.size == 1 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, decimals, unit.name);
}

std::vector<Tick> byte_ticks(double highest, unsigned wanted) {
  const auto unit = unit_for(highest);
  const double step = round_step(std::max(highest, 1.0) / unit.size / wanted);
  std::vector<Tick> all;
  for (unsigned i = 0; i * step * unit.size <= highest * 1.0001; ++i)
    all.push_back(
        {i * step * unit.size, i == 0 ? "0" : fmt::format("{:g} {}", i * step, unit.name)});
  return all;
}

std::vector<Tick> number_ticks(double highest, unsigned wanted, const char* unit) {
  const double step = round_step(std::max(highest, 1.0) / wanted);
  std::vector<Tick> all;
  for (unsigned i = 0; i * step <= highest * 1.0001; ++i)
    all.push_back({i * step, i == 0 ? "0" : fmt::format("{:g} {}", i * step, unit)});
  return all;
}

std::vector<Tick> time_ticks(double longest_ns, unsigned wanted) {
  const double seconds = std::max(longest_ns / ns_per_s, 1e-3);
  const double step = time_step(seconds / wanted);
  std::vector<Tick> all;
  for (unsigned i = 0; i * step <= seconds * 1.0001; ++i)
    all.push_back({i * step * ns_per_s, i == 0 ? "0" : time_label(i * step, step)});
  return all;
}

}  // namespace hmn::cli
