// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::procfs {

// Length limit of a process name in the kernel.
inline constexpr std::size_t longest_comm = 15;

// Returns the file name of argv[0] if `comm` is its beginning, else `comm`. `cmdline` has a NUL
// after each argument, or is a title that the program has written.
std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept;

// Appends the arguments as UTF-8, separated by blanks. `is_cut`: `cmdline` may be incomplete.
void append_command(std::string& out, std::string_view cmdline, bool is_cut);

}  // namespace hmn::procfs
