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
  const auto unit = [&](size_t index) { return static_cast<char32_t>(wide[index]); };
  const auto is_high = [](char32_t c) { return c >= 0xD800 && c < 0xDC00; };
  const auto is_low = [](char32_t c) { return c >= 0xDC00 && c < 0xE000; };
  size_t used = 0;
  for (size_t i = 0; i < wide.size(); ++i) {
    char32_t code_point = unit(i);
    if (is_high(code_point) && i + 1 < wide.size() && is_low(unit(i + 1))) {
      code_point = 0x10000 + ((code_point - 0xD800) << 10U) + (unit(++i) - char32_t{0xDC00});
    } else if (is_high(code_point) || is_low(code_point)) {
      code_point = 0xFFFD;
    }
    const size_t length = code_point < 0x80      ? 1
                          : code_point < 0x800   ? 2
                          : code_point < 0x10000 ? 3
                                                 : 4;
    if (length > out.size() - used) return 0;
    constexpr unsigned first_byte[] = {0, 0, 0xC0, 0xE0, 0xF0};
    auto shift = static_cast<unsigned>(6 * (length - 1));
    out[used++] = static_cast<char>(first_byte[length] | code_point >> shift);
    while (shift > 0) {
      shift -= 6;
      out[used++] = static_cast<char>(0x80U | (code_point >> shift & 0x3FU));
    }
  }
  return used;
}

inline std::string to_utf8(std::u16string_view wide) {
  std::string result(wide.size() * 3, '\0');
  result.resize(encode_utf8(wide, std::span<char>(result)));
  return result;
}

}  // namespace hmn::platform
