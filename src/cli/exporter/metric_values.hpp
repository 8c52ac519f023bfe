// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string_view>

#include "cli/exporter/device_labels.hpp"
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// Number of the only fan, or of the one that the GPU's own speed is of.
constexpr std::string_view first_fan = "1";

// Adds a metric of a whole GPU. Those of single processes, and those that the telemetry of the GPU
// has, are left out.
void collect_metric(const hypomnesis::metric& of, const device_labels& with, samples& to);

}  // namespace hmn::cli
