// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hmn::procfs {

// Value in the "Key:   123 kB" files of /proc.
struct amount {
  enum class is { missing, malformed, known };

  is what = is::missing;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::optional<std::uint64_t> value() const noexcept {
    return what == is::known ? std::optional(bytes) : std::nullopt;
  }
};

// Parses the text after the colon. A unit other than kB, or none, is malformed: a guess would be
// off by a factor of a thousand.
amount parse_kilobytes(std::string_view text) noexcept;

struct wanted_amount {
  std::string_view key;
  amount* into;
};

// Fills each amount from the first line that starts with its key and a colon.
void parse_amounts(std::string_view text, std::span<const wanted_amount> wanted) noexcept;

}  // namespace hmn::procfs
