// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Implementation of decimal.hpp for C++ runtimes that lack these conversions; where the runtime has
// them, only its test uses this, and the linker leaves it out of the library.
#pragma once

#include <optional>
#include <string_view>

namespace hmn::by_hand {

std::optional<double> read_decimal(std::string_view numeral);
char* write_shortest(char* first, double value);
char* write_fixed(char* first, char* last, double value, int decimals) noexcept;

}  // namespace hmn::by_hand
