// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

struct gpu_metrics {
  gpu on;
  std::vector<hypomnesis::metric> metrics;
  std::vector<hypomnesis::diagnostic> missing;  // of its metrics alone
};

// Also one of a device that answers nothing at all: then it stands for its metrics as well.
bool is_of_metrics(const hypomnesis::diagnostic& diagnostic) noexcept;

// The device, its metrics, and below them what is missing; what the device does not have is counted
// alone, unless it is asked for.
std::string metric_table(const gpu_metrics& of, bool with_unsupported, const style& as);
// An object for each metric, and for each that is missing.
std::string metric_json(const std::vector<gpu_metrics>& all);

}  // namespace hmn::cli
