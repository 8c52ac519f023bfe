// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

namespace hmn::os {

// The kernel keeps 15 bytes of a name.
inline constexpr std::size_t longest_comm = 15;

// The last part of argv[0] when `comm` is its beginning, else `comm`. `cmdline`: arguments, each
// ended by NUL.
std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept;

}  // namespace hmn::os
