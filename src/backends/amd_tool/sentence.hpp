// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/command_tool/verdict.hpp"

namespace hmn::amd_tool {

using command_tool::sentence;

// Null when the line is none of the known ones.
const sentence* find_sentence(std::string_view line) noexcept;

}  // namespace hmn::amd_tool
