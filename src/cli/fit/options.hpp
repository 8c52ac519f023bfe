// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli {

// Parsed options of `hmn fit`.
struct FitOptions {
  std::string model;                     // path
  std::optional<std::uint64_t> context;  // tokens for each sequence
  std::uint64_t batch = 1;               // concurrent sequences
  std::optional<std::uint64_t> ubatch;   // tokens processed at once
  std::string kv_type = "f16";
  std::vector<std::string> devices;  // empty: each device by itself; several: together
};

// Returns whether `--device all` was given.
inline bool is_over_all(const FitOptions& options) {
  return options.devices.size() == 1 && options.devices.front() == "all";
}

}  // namespace hmn::cli
