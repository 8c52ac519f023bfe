// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hmn::cli {

// UTF-8 to UTF-16 and back; what is neither becomes U+FFFD.
std::wstring to_wide(std::string_view text);
std::string to_utf8(std::wstring_view text);

}  // namespace hmn::cli
