// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::nvidia_smi {

// Status of a table cell: ok if it has a value. Accepts every spelling with and without brackets:
// they differ between drivers, and between columns of one driver.
status status_of_cell(std::string_view cell) noexcept;

// Number, or why it is missing: unsupported, permission, device_lost …; backend if it is malformed.
template <class T>
struct measured {
  std::optional<T> value;
  status why = status::unsupported;
};

// The unit is in the header, in the cell, or in both, where they must agree.
measured<std::uint64_t> bytes_of(std::string_view cell, std::string_view header_unit) noexcept;
measured<double> number_of(std::string_view cell, std::string_view header_unit,
                           std::string_view expected_unit) noexcept;
measured<std::uint32_t> count_of(std::string_view cell, std::string_view header_unit,
                                 std::string_view expected_unit) noexcept;
// Parses "0x1E8110DE".
measured<std::uint64_t> hexadecimal_of(std::string_view cell) noexcept;
// Parses "P8".
measured<std::uint32_t> p_state_of(std::string_view cell) noexcept;

}  // namespace hmn::nvidia_smi
