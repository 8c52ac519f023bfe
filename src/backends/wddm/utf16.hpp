// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hmn::wddm {

// A surrogate without its other half becomes U+FFFD. Up to the first NUL.
std::string to_utf8(std::u16string_view text);

}  // namespace hmn::wddm
