// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

// Shell pattern over code points: * ? [abc] [a-z] [!a]; a backslash takes the next one literally.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace hmn::cli
