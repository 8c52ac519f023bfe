// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include "cli/exporter/device_labels.hpp"
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// Adds what a snapshot has of one GPU: identity, state, pools, telemetry and metrics.
void collect_device(const hypomnesis::snapshot_device& of, const device_labels& with, samples& to);

}  // namespace hmn::cli
