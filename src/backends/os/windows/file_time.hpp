// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>

namespace hmn::os {

// Nanoseconds since 1970; none for a time before.
constexpr std::optional<std::uint64_t> unix_ns(const FILETIME& t) noexcept {
  constexpr std::uint64_t epoch = 116'444'736'000'000'000;  // 1970, in 100 ns since 1601
  const std::uint64_t units = std::uint64_t{t.dwHighDateTime} << 32 | t.dwLowDateTime;
  if (units < epoch) return std::nullopt;
  return (units - epoch) * 100;
}

}  // namespace hmn::os
