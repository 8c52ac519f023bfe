// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cli/measure/session.hpp"

namespace hmn::cli {

using device_index = std::uint32_t;
using device_key = std::string;  // as hmn_device_find takes it

// An index, a UUID, a PCI address, or a key of hmn_device_find.
expected<std::variant<device_index, device_key>> parse_device_argument(std::string_view text);

// The index of the device that --device names.
expected<device_index> find_device(const session& in, std::string_view text);

// Of the device that --device names alone, where it is given.
expected<hypomnesis::snapshot_options> of_one_device(const session& in,
                                                     const std::optional<std::string>& device,
                                                     hypomnesis::snapshot_options what);

}  // namespace hmn::cli
