// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/sensors.hpp"

namespace hmn::drm {

// Pure. Parses "16.0 GT/s PCIe" as generation 4.
std::optional<std::uint32_t> generation_of(std::string_view link_speed) noexcept;

// Reads <device>/current_link_speed; may wake a sleeping card.
std::optional<std::uint32_t> read_generation(std::string_view device_folder,
                                             int* error = nullptr) noexcept;
// Reads <device>/current_link_width; 0 lanes, reported if there is no link, is absent.
std::optional<std::uint32_t> read_width(std::string_view device_folder,
                                        int* error = nullptr) noexcept;

// Adds both to telemetry, if wanted.
void take_link(std::string_view device_folder, sensors& s, hmn::telemetry& out);

}  // namespace hmn::drm
