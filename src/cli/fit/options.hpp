// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli {

// Parsed options of `hmn fit`.
struct FitOptions {
  std::string model;                     // path, or the name of a model on this machine
  std::optional<std::uint64_t> context;  // tokens for each sequence
  std::optional<std::uint64_t> batch;    // concurrent sequences, each with a context of its own
  std::optional<std::uint64_t> ubatch;   // tokens processed at once
  std::string kv_type = "f16";
  bool flash_attention = true;
  std::vector<std::string> devices;  // empty: each device by itself; several: together
  bool explains = false;             // also print what was assumed
};

// Returns whether `--device all` was given.
inline bool is_over_all(const FitOptions& options) {
  return options.devices.size() == 1 && options.devices.front() == "all";
}

}  // namespace hmn::cli
