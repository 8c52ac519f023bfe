// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pointers of RFC 6901.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.hpp"

namespace hmn::json {

void append_token(std::string& pointer, std::string_view key);

// Returns the unescaped keys of a pointer; nothing if it is malformed.
std::optional<std::vector<std::string>> tokens_of(std::string_view pointer);

// Parses an index into a list of `size` items: no sign, no leading zero, below `size`.
std::optional<std::size_t> position_in(std::size_t size, std::string_view token);

value* find(value& document, const std::vector<std::string>& tokens);

}  // namespace hmn::json
