// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::procfs {

// The kernel keeps 15 bytes of a name.
inline constexpr std::size_t longest_comm = 15;

// The last part of argv[0] when `comm` is its beginning, else `comm`. `cmdline`: arguments, each
// ended by NUL.
std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept;

// The arguments as UTF-8 with a blank between each; `is_cut`: `cmdline` may be a beginning only.
void append_command(std::string& out, std::string_view cmdline, bool is_cut);

}  // namespace hmn::procfs
