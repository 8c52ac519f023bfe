// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Returns the position of the word, or a failure that names it and the words that are expected.
expected<std::size_t> choose_word(std::string_view option, std::string_view text,
                                  std::span<const std::string_view> words);

// Returns a failure that names what is expected of a text that was given and is empty.
std::optional<failure> refuse_empty(std::string_view option, const std::optional<std::string>& text,
                                    std::string_view wanted);

}  // namespace hmn::cli
