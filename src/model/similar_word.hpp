// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace hmn {

// Returns the candidate that was probably meant; empty if none is similar.
std::string_view find_similar_word(std::string_view word,
                                   std::span<const std::string_view> candidates);

}  // namespace hmn
