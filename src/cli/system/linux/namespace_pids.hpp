// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace hmn::cli {

// Of a status file the line NSpid: the process' pid in each PID namespace that it is in, from that
// of the proc tree inwards. Linux 4.1; empty: no such line.
std::vector<std::uint32_t> parse_namespace_pids(std::string_view status);

}  // namespace hmn::cli
