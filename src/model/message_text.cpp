// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/message_text.hpp"

#include <algorithm>
#include <array>

namespace hmn {

PieceText::PieceText(const Piece& piece) noexcept {
  if (piece.kind_ == Piece::Kind::literal) {
    text_ = piece.text_;
    return;
  }
  if (piece.kind_ == Piece::Kind::text) {
    text_ = {piece.text_, piece.size_};
    return;
  }
  const bool is_hex = piece.kind_ == Piece::Kind::base_16;
  const bool is_negative = piece.kind_ == Piece::Kind::negative;
  // std::to_chars carries a table of digit pairs as large as this file.
  char* const end = digits_.data() + digits_.size();
  char* first = end;
  const unsigned base = is_hex ? 16 : 10;
  std::uint64_t remaining = is_negative ? 0 - piece.number_ : piece.number_;
  do {
    *--first = "0123456789abcdef"[remaining % base];
    remaining /= base;
  } while (remaining != 0);
  const char* const padded_first = end - (is_hex ? std::min(piece.size_, 16U) : 0);
  while (first > padded_first) *--first = '0';
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

std::string_view compose_into(std::span<char> buffer,
                              std::initializer_list<Piece> pieces) noexcept {
  std::size_t length = 0;
  for (const Piece& piece : pieces) {
    length += PieceText(piece).view().copy(buffer.data() + length, buffer.size() - length);
  }
  return {buffer.data(), length};
}

namespace {

bool is_inside_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

MessageText::MessageText(std::initializer_list<Piece> pieces) noexcept : was_cut_(false) {
  std::size_t length = 0;
  for (const Piece& piece : pieces) {
    const PieceText formatted(piece);
    const std::string_view text = formatted.view();
    std::size_t count = text.copy(bytes_.data() + length, capacity - length);
    was_cut_ = count < text.size();
    if (was_cut_) {
      while (count > 0 && is_inside_code_point(text[count])) --count;
    }
    length += count;
    if (was_cut_) break;
  }
  length_ = static_cast<std::uint8_t>(length);
}

}  // namespace hmn
