// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

// What a recording holds, a line for each kind of file: "31 x /proc/*/stat".
std::vector<std::string> kinds_in_recording(std::string_view text);

}  // namespace hmn::cli
