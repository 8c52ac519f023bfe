// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/size_text.hpp"

#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace hmn::simulated {
namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t most_decimals = 6;  // 10^6 TiB fits 64 bits

std::optional<std::uint64_t> unit_of(std::string_view name) {
  if (name == "B") return 1;
  if (name == "KiB") return std::uint64_t{1} << 10;
  if (name == "MiB") return std::uint64_t{1} << 20;
  if (name == "GiB") return std::uint64_t{1} << 30;
  if (name == "TiB") return std::uint64_t{1} << 40;
  return {};
}

// Removes leading digits.
std::optional<std::uint64_t> take_digits(std::string_view& text) {
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct fraction {
  std::uint64_t over = 0;
  std::uint64_t under = 1;
};

std::optional<fraction> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return fraction{};
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const std::optional<std::uint64_t> digits = take_digits(text);
  if (!digits || before - text.size() > most_decimals) return {};
  fraction f{*digits, 1};
  for (std::size_t i = text.size(); i < before; ++i) f.under *= 10;
  return f;
}

}  // namespace

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const std::optional<std::uint64_t> whole = take_digits(text);
  if (!whole) return {};
  const std::optional<fraction> part = take_fraction(text);
  if (!part) return {};
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::optional<std::uint64_t> unit = unit_of(text);
  if (!unit || *whole > most_bytes / *unit || part->over * *unit % part->under != 0) return {};
  const std::uint64_t rest = part->over * *unit / part->under;
  if (*whole * *unit > most_bytes - rest) return {};
  return *whole * *unit + rest;
}

}  // namespace hmn::simulated
