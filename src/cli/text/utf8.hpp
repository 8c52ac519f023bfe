// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hmn::cli {

struct code_point {
  char32_t value = 0;
  std::size_t length = 0;  // bytes taken; 0 at the end
};

// Returns the first code point; an invalid byte is U+FFFD of length 1.
code_point first_code_point(std::string_view text) noexcept;
void append_utf8(std::string& out, char32_t value);

}  // namespace hmn::cli
