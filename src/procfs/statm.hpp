// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::procfs {

// Values of /proc/<pid>/statm, in pages.
struct statm {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
};

std::optional<statm> parse_statm(std::string_view text) noexcept;

}  // namespace hmn::procfs
