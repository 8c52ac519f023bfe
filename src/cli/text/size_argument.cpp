// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/size_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hmn::cli {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::uint64_t ki = 1024;
constexpr std::uint64_t k = 1000;
constexpr unit size_units[] = {{"B", 1},
                               {"KiB", ki},
                               {"MiB", ki* ki},
                               {"GiB", ki* ki* ki},
                               {"TiB", ki* ki* ki* ki},
                               {"K", ki},
                               {"M", ki* ki},
                               {"G", ki* ki* ki},
                               {"T", ki* ki* ki* ki},
                               {"KB", k},
                               {"MB", k* k},
                               {"GB", k* k* k},
                               {"TB", k* k* k* k}};

constexpr std::size_t most_decimals = 6;

bool is_number(std::string_view text, std::uint64_t& into) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), into);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

failure not_a_size(std::string_view text, std::string_view why) {
  return misused(fmt::format("\"{}\": {}", text, why));
}

}  // namespace

expected<std::uint64_t> parse_size_argument(std::string_view text) {
  constexpr std::string_view wanted =
      "expected a number and a unit: B, KiB to TiB, K to T, or KB to TB";
  const auto number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = text.substr(0, number_end);
  auto name = text.substr(number_end);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (number.empty()) return not_a_size(text, wanted);
  if (name.empty() && number.find_first_not_of("0.") == std::string_view::npos)
    return not_a_size(text, wanted);
  if (name.empty()) return misused(fmt::format("{0}: did you mean {0}GiB or {0}MiB?", number));
  const auto* const found = std::find_if(std::begin(size_units), std::end(size_units),
                                         [&](const unit& each) { return each.name == name; });
  if (found == std::end(size_units)) return not_a_size(text, wanted);

  const auto dot = number.find('.');
  const auto whole = number.substr(0, dot);
  const auto decimals = dot == std::string_view::npos ? std::string_view{} : number.substr(dot + 1);
  if (dot != std::string_view::npos && (decimals.empty() || decimals.size() > most_decimals))
    return not_a_size(text, "expected one to six decimals");
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  if (!is_number(whole, high) || (!decimals.empty() && !is_number(decimals, low)))
    return not_a_size(text, whole.size() > 18 ? "is too large" : wanted);
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
  // Below 10^6 * 2^40. Rounded up, so that the memory suffices.
  const std::uint64_t part = (low * found->bytes + scale - 1) / scale;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(high, found->bytes, &bytes) ||
      __builtin_add_overflow(bytes, part, &bytes))
    return not_a_size(text, "is too large");
  if (bytes == 0) return not_a_size(text, "expected a size greater than zero");
  return bytes;
}

}  // namespace hmn::cli
