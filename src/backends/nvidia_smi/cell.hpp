// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::nvidia_smi {

// What a cell of the tool's tables says when it has no value: ok when it has one. Every spelling
// with and without brackets: they changed between drivers and differ between columns of one driver.
status status_of_cell(std::string_view cell) noexcept;

// A number, or why there is none: unsupported, permission, device_lost …; backend for nonsense.
template <class T>
struct measured {
  std::optional<T> value;
  status why = status::unsupported;
};

// The unit stands in the header, in the cell, or in both, where they must agree.
measured<std::uint64_t> bytes_of(std::string_view cell, std::string_view header_unit) noexcept;
measured<double> number_of(std::string_view cell, std::string_view header_unit,
                           std::string_view expected_unit) noexcept;
measured<std::uint32_t> count_of(std::string_view cell, std::string_view header_unit,
                                 std::string_view expected_unit) noexcept;
// "0x1E8110DE"
measured<std::uint64_t> hexadecimal_of(std::string_view cell) noexcept;
// "P8"
measured<std::uint32_t> p_state_of(std::string_view cell) noexcept;

}  // namespace hmn::nvidia_smi
