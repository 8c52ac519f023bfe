// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

namespace hmn {

namespace {

bool is_inside_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

message_text::message_text(std::initializer_list<piece> pieces) noexcept : was_cut_(false) {
  std::size_t length = 0;
  for (const piece& p : pieces) {
    const piece_text formatted(p);
    const std::string_view text = formatted.view();
    std::size_t kept = text.copy(bytes_.data() + length, capacity - length);
    was_cut_ = kept < text.size();
    if (was_cut_) {
      while (kept > 0 && is_inside_code_point(text[kept])) --kept;
    }
    length += kept;
    if (was_cut_) break;
  }
  length_ = static_cast<std::uint8_t>(length);
}

}  // namespace hmn
