// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cli/handles.hpp"

namespace hmn::cli {

using device_index = std::uint32_t;
using device_key = std::string;  // as hmn_device_find takes it

// An index, a UUID, a PCI address, or a key of hmn_device_find.
expected<std::variant<device_index, device_key>> parse_device_argument(std::string_view text);

// The index of the device that --device names.
expected<device_index> find_device(const context& in, std::string_view text);

// Of the device that --device names alone, where it is given.
expected<hmn_snapshot_options> of_one_device(const context& in,
                                             const std::optional<std::string>& device,
                                             hmn_snapshot_options what);

}  // namespace hmn::cli
