// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hmn::cli {

// The path in the line of version 2 ("0::/a/b") of a cgroup file; nothing where there is none.
std::optional<std::string> parse_group_path(std::string_view proc_self_cgroup);
// Where the whole of version 2 is mounted.
std::optional<std::string> parse_group_mount(std::string_view mountinfo);

}  // namespace hmn::cli
