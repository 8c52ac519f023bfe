// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hmn::platform {

// Converts UTF-16 to UTF-8; an unpaired surrogate becomes U+FFFD. Returns 0 when it does not fit;
// the buffer is not terminated. `Unit`: char16_t, or the wchar_t of Windows.
template <class Unit>
size_t encode_utf8(std::basic_string_view<Unit> wide, std::span<char> out) noexcept {
  const auto unit = [&](size_t at) { return static_cast<char32_t>(wide[at]); };
  const auto is_high = [](char32_t c) { return c >= 0xD800 && c < 0xDC00; };
  const auto is_low = [](char32_t c) { return c >= 0xDC00 && c < 0xE000; };
  size_t used = 0;
  for (size_t i = 0; i < wide.size(); ++i) {
    char32_t c = unit(i);
    if (is_high(c) && i + 1 < wide.size() && is_low(unit(i + 1))) {
      c = 0x10000 + ((c - 0xD800) << 10U) + (unit(++i) - char32_t{0xDC00});
    } else if (is_high(c) || is_low(c)) {
      c = 0xFFFD;
    }
    const size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (length > out.size() - used) return 0;
    constexpr unsigned first_byte[] = {0, 0, 0xC0, 0xE0, 0xF0};
    auto shift = static_cast<unsigned>(6 * (length - 1));
    out[used++] = static_cast<char>(first_byte[length] | c >> shift);
    while (shift > 0) {
      shift -= 6;
      out[used++] = static_cast<char>(0x80U | (c >> shift & 0x3FU));
    }
  }
  return used;
}

inline std::string to_utf8(std::u16string_view wide) {
  std::string made(wide.size() * 3, '\0');
  made.resize(encode_utf8(wide, std::span<char>(made)));
  return made;
}

}  // namespace hmn::platform
