// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fuzz.hpp"

#include <array>
#include <cstring>

void fuzz(std::string_view input) {
  const std::size_t capacity = take_byte(input) % 40 + 1;
  const std::string whole = utf8(input);
  promise(is_utf8(whole));
  promise(whole.find('\0') == std::string::npos);
  std::array<char, 41> out;
  out.fill('#');
  bool cut = false;
  const std::size_t length = hmn::copy_utf8(out.data(), capacity, input, cut);
  promise(length < capacity);
  promise(out[length] == '\0');
  promise(out[capacity] == '#');
  const std::string_view copied(out.data(), length);
  promise(whole.starts_with(copied) && is_utf8(copied));
  promise(cut == (copied.size() < whole.size()));
  // Not more than one code point was given up for lack of capacity.
  if (cut) promise(length + 4 >= capacity);
}
