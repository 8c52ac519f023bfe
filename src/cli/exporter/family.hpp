// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace hmn::cli {

enum class family_kind : std::uint8_t { gauge, counter, info };

// Metrics of one name, which a scrape writes together.
struct family {
  std::string_view name;
  family_kind kind;
  std::string_view help;
};

}  // namespace hmn::cli
