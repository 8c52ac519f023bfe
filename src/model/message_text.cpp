// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

#include <algorithm>
#include <array>

namespace hmn {

PieceText::PieceText(const Piece& p) noexcept {
  if (p.is_ == Piece::Kind::literal) {
    text_ = p.text_;
    return;
  }
  if (p.is_ == Piece::Kind::text) {
    text_ = {p.text_, p.size_};
    return;
  }
  const bool is_hex = p.is_ == Piece::Kind::base_16;
  const bool is_negative = p.is_ == Piece::Kind::negative;
  // std::to_chars has a table of two digits for each number, and is as large as this file.
  char* const end = digits_.data() + digits_.size();
  char* first = end;
  const unsigned base = is_hex ? 16 : 10;
  std::uint64_t rest = is_negative ? 0 - p.number_ : p.number_;
  do {
    *--first = "0123456789abcdef"[rest % base];
    rest /= base;
  } while (rest != 0);
  const char* const least = end - (is_hex ? std::min(p.size_, 16U) : 0);
  while (first > least) *--first = '0';
  if (is_negative) *--first = '-';
  text_ = {first, static_cast<std::size_t>(end - first)};
}

std::string compose(std::initializer_list<Piece> pieces) {
  std::size_t length = 0;
  for (const Piece& p : pieces) length += PieceText(p).view().size();
  std::string out;
  out.reserve(length);
  for (const Piece& p : pieces) out += PieceText(p).view();
  return out;
}

std::string_view compose_in(std::span<char> out, std::initializer_list<Piece> pieces) noexcept {
  std::size_t length = 0;
  for (const Piece& p : pieces) {
    length += PieceText(p).view().copy(out.data() + length, out.size() - length);
  }
  return {out.data(), length};
}

namespace {

bool is_inside_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

MessageText::MessageText(std::initializer_list<Piece> pieces) noexcept : was_cut_(false) {
  std::size_t length = 0;
  for (const Piece& p : pieces) {
    const PieceText formatted(p);
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
