// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

// What the command looks up by itself: a user's name may come over a network, which a library must
// not wait for.

// By the users of this system; the number where it has no name.
std::string user_name(std::uint32_t uid);

// Of a status file the line NSpid: the process' pid in each PID namespace that it is in, from that
// of the proc tree inwards. Linux 4.1; empty: no such line.
std::vector<std::uint32_t> parse_namespace_pids(std::string_view status);
// What the process calls itself, in the proc tree that the library reads too.
std::optional<std::uint32_t> namespace_pid(std::uint32_t pid);

}  // namespace hmn::cli
