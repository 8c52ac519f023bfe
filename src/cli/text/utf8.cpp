// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct lead {
  char32_t bits;
  std::size_t length;
  char32_t lowest;
};

lead lead_of(unsigned char byte) noexcept {
  if (byte < 0x80) return {byte, 1, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {byte & 0x1Fu, 2, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {byte & 0x0Fu, 3, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {byte & 0x07u, 4, 0x10000};
  return {replacement, 0, 0};
}

bool is_scalar(char32_t value) noexcept {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

}  // namespace

code_point first_code_point(std::string_view text) noexcept {
  if (text.empty()) return {};
  const auto start = lead_of(static_cast<unsigned char>(text.front()));
  if (start.length == 0 || start.length > text.size()) return {replacement, 1};
  auto value = start.bits;
  for (std::size_t i = 1; i < start.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return {replacement, 1};
    value = value << 6 | (byte & 0x3Fu);
  }
  if (value < start.lowest || !is_scalar(value)) return {replacement, 1};
  return {value, start.length};
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | value >> 6);
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3F));
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

}  // namespace hmn::cli
