// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/expected.hpp"
#include "cli/exporter/settings.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

// Prints the metrics, writes them to a file, or serves them until it is stopped.
expected<exit_code> run_exporter(const session& in, const exporter_settings& how);

}  // namespace hmn::cli
