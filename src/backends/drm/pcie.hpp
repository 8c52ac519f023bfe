// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/sensors.hpp"

namespace hmn::drm {

// Pure: "16.0 GT/s PCIe" is generation 4.
std::optional<std::uint32_t> generation_of(std::string_view link_speed) noexcept;

// Of <device>/current_link_speed; reading it may wake a sleeping card.
std::optional<std::uint32_t> read_generation(std::string_view device_folder,
                                             int* error = nullptr) noexcept;
// Of <device>/current_link_width; 0 lanes, which the kernel says of no link, is none.
std::optional<std::uint32_t> read_width(std::string_view device_folder,
                                        int* error = nullptr) noexcept;

// Both into telemetry, those that are wanted.
void take_link(std::string_view device_folder, sensors& s, hmn::telemetry& out);

}  // namespace hmn::drm
