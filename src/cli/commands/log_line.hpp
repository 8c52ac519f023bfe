// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"

namespace hmn::cli {

// What a snapshot says of one device.
struct log_sample {
  std::uint64_t unix_time_ns = 0;
  std::uint64_t monotonic_ns = 0;
  gpu of;
  std::optional<hypomnesis::telemetry> telemetry;
  const std::vector<hypomnesis::diagnostic>* diagnostics = nullptr;  // of the whole snapshot
};

// Each is one line.
std::string log_text(const log_sample& sample, bool ascii_only);
std::string log_json(const log_sample& sample);
std::string log_csv_header();
std::string log_csv(const log_sample& sample);

}  // namespace hmn::cli
