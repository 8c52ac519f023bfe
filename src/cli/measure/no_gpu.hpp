// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/session.hpp"

namespace hmn::cli {

// Returns why a snapshot lists no device, in one line.
std::string why_no_gpu(const session& in, const hypomnesis::snapshot& snapshot);

// Returns why the search failed; none if it found a device, or that there is none.
std::optional<std::string> why_search_failed(const hypomnesis::snapshot& snapshot);
bool search_failed(const hypomnesis::snapshot& snapshot);
// Returns whether a driver was still being opened, or had not listed its devices.
bool is_late(const hypomnesis::snapshot& list);

// Returns whether there may be more devices than are listed. A device that is listed and cannot be
// read is not missing, whatever its partitions.
bool lacks_devices(const std::vector<hypomnesis::diagnostic>& all,
                   const std::function<hypomnesis::run_state(std::uint32_t index)>& state_of);
bool lacks_devices(const hypomnesis::snapshot& snapshot);

// Checks for a device, which the command needs; returns why it cannot begin. `lacking` precedes the
// reason.
std::optional<failure> check_for_gpus(const session& in, const std::string& lacking);

}  // namespace hmn::cli
