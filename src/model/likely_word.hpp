// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace hmn {

// Returns the known word that was probably meant; empty if none is similar.
std::string_view likely_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace hmn
