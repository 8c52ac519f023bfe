// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <vector>

#include "cli/exporter/device_ids.hpp"
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// Adds how many values are missing for which reason, and which sources failed as a whole.
void collect_missing(const std::vector<hypomnesis::diagnostic>& all, const device_ids& ids,
                     samples& to);

}  // namespace hmn::cli
