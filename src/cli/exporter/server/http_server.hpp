// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>

#include "cli/expected.hpp"
#include "cli/exporter/server.hpp"

namespace hmn::cli {

// Serves until how.wait_for_stop returns.
std::optional<failure> serve_http(const server_settings& how);

}  // namespace hmn::cli
