// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/measure/session.hpp"

namespace hmn::cli {

using device_index = std::uint32_t;
using device_key = std::string;  // in the form of hmn_device_find

// Parses an index, a UUID, a PCI address, or a key of hmn_device_find.
expected<std::variant<device_index, device_key>> parse_device_argument(std::string_view text);

// Returns the index of the device that --device names.
expected<device_index> find_device(const session& in, std::string_view text);

// Returns "--device 1, 2" for the parts of a device that are devices of their own; empty: none is.
std::string parts_of(device_index whole, const std::vector<hypomnesis::device>& among);

// Limits a snapshot to the device of --device, if given.
expected<hypomnesis::snapshot_options> of_one_device(const session& in,
                                                     const std::optional<std::string>& device,
                                                     hypomnesis::snapshot_options what);

}  // namespace hmn::cli
