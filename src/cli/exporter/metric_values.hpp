// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include "cli/exporter/device_labels.hpp"
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// Adds a metric of a whole GPU. Those of single processes, and those that the telemetry of the GPU
// has, are left out.
void collect_metric(const hypomnesis::metric& of, const device_labels& with, samples& to);

}  // namespace hmn::cli
