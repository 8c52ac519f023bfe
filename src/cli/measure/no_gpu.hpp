// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/measure/session.hpp"

namespace hmn::cli {

// Why a snapshot lists no device, in one line.
std::string why_no_gpu(const session& in, const hypomnesis::snapshot& snapshot);

// Nothing was found because something failed, not because there is nothing.
bool search_failed(const hypomnesis::snapshot& snapshot);

// Looks for devices, of which a command needs one: nothing, or why it cannot begin. `lacking` goes
// before the reason that there is none.
std::optional<failure> check_for_gpus(const session& in, const std::string& lacking);

}  // namespace hmn::cli
