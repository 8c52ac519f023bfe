// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::simulated {

// Returns whether it is a word that sources look for, or a single character. Case does not matter.
bool is_kept_word(std::string_view word);
std::string lower(std::string_view text);

}  // namespace hmn::simulated
