// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/json_writer.hpp"

#include <algorithm>

#include "model/text.hpp"

namespace hmn {
namespace {

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_escape(std::string& out, unsigned code_point) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[code_point >> shift & 0xF];
}

// The code point at the front where it is one that acts on a terminal rather than being shown
// there: U+0080 to U+009F, and what breaks lines or turns the direction of text. 0: another.
unsigned control_at(std::string_view valid) {
  const auto at = [&](std::size_t i) {
    return i < valid.size() ? static_cast<unsigned char>(valid[i]) : 0U;
  };
  if (at(0) == 0xC2 && at(1) < 0xA0) return at(1);
  if (at(0) != 0xE2 || (at(1) != 0x80 && at(1) != 0x81)) return 0;
  const unsigned c = 0x2000 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
  const bool acts = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return acts ? c : 0;
}

std::size_t length_of(unsigned control) {
  return control < 0x100 ? 2 : 3;
}

void append_ascii(std::string& out, char c) {
  constexpr std::string_view escaped = "\"\\\n\r\t";
  constexpr std::string_view letters = "\"\\nrt";
  const std::size_t which = escaped.find(c);
  if (which != escaped.npos) {
    out += '\\';
    out += letters[which];
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    append_escape(out, static_cast<unsigned char>(c));
  } else {
    out += c;
  }
}

void append_escaped(std::string& out, std::string_view valid) {
  for (std::size_t i = 0; i < valid.size();) {
    if (const unsigned control = control_at(valid.substr(i))) {
      append_escape(out, control);
      i += length_of(control);
    } else {
      append_ascii(out, valid[i++]);
    }
  }
}

}  // namespace

void json_writer::text(std::string_view bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), is_plain)) return word(bytes);
  std::string valid;
  append_utf8(valid, bytes);
  separate();
  out_ += '"';
  append_escaped(out_, valid);
  out_ += '"';
}

}  // namespace hmn
