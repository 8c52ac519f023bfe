// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace hmn::cli {

// By the users of this system; the number where it has no name.
std::string user_name(std::uint32_t uid);

}  // namespace hmn::cli
