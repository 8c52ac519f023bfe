// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hmn::cli {

// Returns the system's message for a code of GetLastError, in the user's language.
std::string error_text(std::uint32_t code);
std::string last_error_text();

}  // namespace hmn::cli
