// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hmn::cli {

// Parsed options of `hmn top`.
struct TopOptions {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> frames;
  bool once = false;
  bool is_read_only = false;  // sends no signals
  std::optional<std::string> user;
};

}  // namespace hmn::cli
