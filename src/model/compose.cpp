// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/compose.hpp"

#include <algorithm>
#include <charconv>

namespace hmn {

void piece::set_number(std::uint64_t size, int base, bool negative, unsigned width) noexcept {
  std::array<char, 20> raw;
  const auto end = std::to_chars(raw.data(), raw.data() + raw.size(), size, base).ptr;
  const auto count = static_cast<unsigned>(end - raw.data());
  char* out = digits_.data();
  if (negative) *out++ = '-';
  const unsigned filled = std::min(width, 16U);
  if (filled > count) out = std::fill_n(out, filled - count, '0');
  out = std::copy(raw.data(), end, out);
  length_ = static_cast<std::uint8_t>(out - digits_.data());
}

piece hex(std::uint64_t number, unsigned width) noexcept {
  piece made{std::string_view()};
  made.set_number(number, 16, false, width);
  return made;
}

std::string compose(std::initializer_list<piece> pieces) {
  std::size_t length = 0;
  for (const piece& p : pieces) length += p.view().size();
  std::string out;
  out.reserve(length);
  for (const piece& p : pieces) out += p.view();
  return out;
}

std::string_view compose_in(std::span<char> out, std::initializer_list<piece> pieces) noexcept {
  std::size_t length = 0;
  for (const piece& p : pieces) length += p.view().copy(out.data() + length, out.size() - length);
  return {out.data(), length};
}

}  // namespace hmn
