// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/wddm/utf16.hpp"

#include <cstddef>
#include <cstdint>

namespace hmn::wddm {
namespace {

bool is_high(char32_t c) noexcept {
  return c >= 0xD800 && c < 0xDC00;
}
bool is_low(char32_t c) noexcept {
  return c >= 0xDC00 && c < 0xE000;
}

void append(std::string& out, char32_t c) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::string to_utf8(std::u16string_view text) {
  text = text.substr(0, text.find(u'\0'));
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char32_t c = text[i];
    if (is_high(c) && i + 1 < text.size() && is_low(text[i + 1])) {
      c = 0x10000 + ((c - 0xD800) << 10U) + (text[++i] - char32_t{0xDC00});
    } else if (is_high(c) || is_low(c)) {
      c = 0xFFFD;
    }
    append(out, c);
  }
  return out;
}

}  // namespace hmn::wddm
