// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hmn::cli {

// Looks up a user of this system; returns the number for one without a name.
std::string find_user_name(std::uint32_t uid);

}  // namespace hmn::cli
