// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fuzz.hpp"

#include <array>
#include <cstring>

void fuzz(std::string_view input) {
  const std::size_t capacity = take_byte(input) % 40 + 1;
  const std::string valid_text = utf8(input);
  promise(is_utf8(valid_text));
  promise(valid_text.find('\0') == std::string::npos);
  std::array<char, 41> out;
  out.fill('#');
  bool was_cut = false;
  const std::size_t length = hmn::copy_utf8(out.data(), capacity, input, was_cut);
  promise(length < capacity);
  promise(out[length] == '\0');
  promise(out[capacity] == '#');
  const std::string_view copied(out.data(), length);
  promise(valid_text.starts_with(copied) && is_utf8(copied));
  promise(was_cut == (copied.size() < valid_text.size()));
  // At most one code point is dropped for lack of capacity.
  if (was_cut) promise(length + 4 >= capacity);
}
