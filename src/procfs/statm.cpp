// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/statm.hpp"

#include <cstddef>

namespace hmn::procfs {
namespace {

constexpr std::ptrdiff_t most_digits = 19;  // all such numbers fit 64 bits

constexpr unsigned value_of(char c) noexcept {
  return static_cast<unsigned char>(c - '0');
}

constexpr bool is_digit(char c) noexcept {
  return value_of(c) < 10;
}

}  // namespace

std::optional<statm> parse_statm(std::string_view text) noexcept {
  // In one pass: this is most of what reading the own resident set costs besides system calls.
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t pages[2] = {};
  for (std::uint64_t& number : pages) {
    const char* const first = at;
    for (; at != end && is_digit(*at); ++at) number = number * 10 + value_of(*at);
    // Nor is a number at the end of the text complete.
    if (at == first || at - first > most_digits || at == end || *at != ' ') return {};
    ++at;
  }
  // Reject a line without a further word: the second number may be cut.
  if (at == end || *at == '\n') return {};
  return statm{pages[0], pages[1]};
}

}  // namespace hmn::procfs
