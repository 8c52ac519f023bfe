// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/compose.hpp"

#include <algorithm>
#include <charconv>

namespace hmn {

piece_text::piece_text(const piece& p) noexcept {
  if (p.kind_ == piece::kind::text) {
    text_ = {p.text_, p.length_};
    return;
  }
  const bool is_hex = p.kind_ == piece::kind::hex;
  const bool is_negative = p.kind_ == piece::kind::negative;
  std::array<char, 20> raw;
  const auto end = std::to_chars(raw.data(), raw.data() + raw.size(),
                                 is_negative ? 0 - p.number_ : p.number_, is_hex ? 16 : 10)
                       .ptr;
  const auto count = static_cast<unsigned>(end - raw.data());
  char* out = digits_.data();
  if (is_negative) *out++ = '-';
  const unsigned filled = std::min(p.length_, 16U);
  if (filled > count) out = std::fill_n(out, filled - count, '0');
  out = std::copy(raw.data(), end, out);
  text_ = {digits_.data(), static_cast<std::size_t>(out - digits_.data())};
}

std::string compose(std::initializer_list<piece> pieces) {
  std::size_t length = 0;
  for (const piece& p : pieces) length += piece_text(p).view().size();
  std::string out;
  out.reserve(length);
  for (const piece& p : pieces) out += piece_text(p).view();
  return out;
}

std::string_view compose_in(std::span<char> out, std::initializer_list<piece> pieces) noexcept {
  std::size_t length = 0;
  for (const piece& p : pieces) {
    length += piece_text(p).view().copy(out.data() + length, out.size() - length);
  }
  return {out.data(), length};
}

}  // namespace hmn
