// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/json_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "model/decimal.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"

namespace hmn::json {
namespace {

constexpr std::uint64_t repeat_byte(unsigned char value) {
  return value * 0x0101'0101'0101'0101U;
}

// Returns whether each of eight bytes needs no escape. A carry from a byte goes only to those above
// one that has been found.
bool is_plain(std::uint64_t bytes) {
  const auto has_zero = [](std::uint64_t word) { return (word - repeat_byte(1)) & ~word; };
  const std::uint64_t flags = bytes | (bytes + repeat_byte(1)) |  // 0x80 or more, 0x7f
                              (bytes - repeat_byte(0x20)) |       // below a blank
                              has_zero(bytes ^ repeat_byte('"')) |
                              has_zero(bytes ^ repeat_byte('\\'));
  return (flags & repeat_byte(0x80)) == 0;
}

// Returns whether the bytes need no escape. This goes through every message.
bool is_plain(std::string_view bytes) {
  std::uint64_t word;
  for (; bytes.size() >= sizeof word; bytes.remove_prefix(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    if (!is_plain(word)) return false;
  }
  word = repeat_byte(' ');
  std::memcpy(&word, bytes.data(), bytes.size());
  return is_plain(word);
}

void append_escape(std::string& out, unsigned code_point) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[code_point >> shift & 0xF];
}

// Returns the leading code point if a terminal would interpret it: U+0080 to U+009F, line breaks,
// marks and changes of text direction. Returns 0 otherwise.
unsigned leading_control(std::string_view valid) {
  const auto byte_at = [&](std::size_t i) {
    return i < valid.size() ? static_cast<unsigned char>(valid[i]) : 0U;
  };
  if (byte_at(0) == 0xC2 && byte_at(1) < 0xA0) return byte_at(1);
  if (byte_at(0) == 0xD8 && byte_at(1) == 0x9C) return 0x61C;
  if (byte_at(0) != 0xE2 || (byte_at(1) != 0x80 && byte_at(1) != 0x81)) return 0;
  const unsigned code_point = 0x2000 | (byte_at(1) & 0x3F) << 6 | (byte_at(2) & 0x3F);
  const bool is_control = code_point == 0x200E || code_point == 0x200F ||
                          (code_point >= 0x2028 && code_point <= 0x202E) ||
                          (code_point >= 0x2066 && code_point <= 0x2069);
  return is_control ? code_point : 0;
}

std::size_t encoded_length(unsigned control) {
  return control < 0x800 ? 2 : 3;
}

void append_ascii(std::string& out, char c) {
  constexpr std::string_view escaped = "\"\\\n\r\t";
  constexpr std::string_view letters = "\"\\nrt";
  const std::size_t index = escaped.find(c);
  if (index != escaped.npos) {
    out += '\\';
    out += letters[index];
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    append_escape(out, static_cast<unsigned char>(c));
  } else {
    out += c;
  }
}

void append_escaped(std::string& out, std::string_view valid) {
  for (std::size_t i = 0; i < valid.size();) {
    if (const unsigned control = leading_control(valid.substr(i))) {
      append_escape(out, control);
      i += encoded_length(control);
    } else {
      append_ascii(out, valid[i++]);
    }
  }
}

}  // namespace

// Returns where to write `bytes` more bytes, or nullptr if they do not fit.
char* Writer::grow(std::size_t bytes) {
  const std::size_t offset = std::exchange(size_, size_ + bytes);
  if (text_ != nullptr) {
    text_->resize(text_->size() + bytes);
    return text_->data() + text_->size() - bytes;
  }
  return size_ <= buffer_.size() ? buffer_.data() + offset : nullptr;
}

void Writer::put(char c) {
  if (char* const target = grow(1)) *target = c;
}

void Writer::raw(std::string_view literal) {
  if (char* target = grow(literal.size() + (is_first_ ? 0 : 1))) {
    if (!is_first_) *target++ = ',';
    std::memcpy(target, literal.data(), literal.size());
  }
  is_first_ = false;
}

void Writer::open(char bracket) {
  raw({&bracket, 1});
  is_first_ = true;
}

void Writer::close(char bracket) {
  put(bracket);
  is_first_ = false;
}

void Writer::newline() {
  raw("\n");
  is_first_ = true;
}

void Writer::key(std::string_view name) {
  word(name);
  put(':');
  is_first_ = true;
}

void Writer::value(const json::Value& node) {
  if (const auto* object = node.members()) {
    open('{');
    for (std::size_t i = 0; i < object->keys.size(); ++i) {
      text(object->keys[i]);
      put(':');
      is_first_ = true;
      value(object->values[i]);
    }
    return close('}');
  }
  if (const auto* items = node.items()) {
    open('[');
    for (const json::Value& item : *items) value(item);
    return close(']');
  }
  if (const auto* bytes = node.text()) return text(*bytes);
  if (const auto* real = node.get_if<json::Number>()) return digits(real->text);
  if (const auto integer = node.integer()) return number(*integer);
  const std::optional<bool> flag = node.boolean();
  flag ? boolean(*flag) : null();
}

void Writer::null() {
  raw("null");
}
void Writer::boolean(bool b) {
  raw(b ? "true" : "false");
}

void Writer::word(std::string_view literal) {
  if (char* target = grow(literal.size() + (is_first_ ? 2 : 3))) {
    if (!is_first_) *target++ = ',';
    *target++ = '"';
    std::memcpy(target, literal.data(), literal.size());
    target[literal.size()] = '"';
  }
  is_first_ = false;
}

void Writer::text(std::string_view bytes) {
  if (is_plain(bytes)) return word(bytes);
  std::string escaped;
  for (;;) {
    const std::size_t length = std::min(bytes.find('\0'), bytes.size());
    std::string valid;
    append_utf8(valid, bytes.substr(0, length));
    append_escaped(escaped, valid);
    if (length == bytes.size()) break;
    append_escape(escaped, 0);
    bytes.remove_prefix(length + 1);
  }
  word(escaped);
}

void Writer::number(std::uint64_t n) {
  raw(PieceText(n).view());
}
void Writer::number(std::int32_t n) {
  raw(PieceText(n).view());
}
void Writer::number(double n) {
  if (!std::isfinite(n)) return null();
  std::array<char, 32> digits;
  raw({digits.data(), write_shortest(digits.data(), n)});
}

void Writer::member(std::string_view name, std::string_view bytes) {
  key(name);
  text(bytes);
}

void Writer::member(std::string_view name, std::uint64_t n) {
  key(name);
  number(n);
}

void Writer::member(std::string_view name, const std::optional<std::uint64_t>& n) {
  key(name);
  n ? number(*n) : null();
}

void Writer::member(std::string_view name, const std::optional<std::uint32_t>& n) {
  key(name);
  n ? number(std::uint64_t{*n}) : null();
}

void Writer::member(std::string_view name, const std::optional<std::int32_t>& n) {
  key(name);
  n ? number(*n) : null();
}

void Writer::member(std::string_view name, const std::optional<double>& n) {
  key(name);
  n ? number(*n) : null();
}

void Writer::word_member(std::string_view name, std::string_view literal) {
  key(name);
  word(literal);
}

void Writer::text_member(std::string_view name, std::string_view bytes) {
  key(name);
  bytes.empty() ? null() : text(bytes);
}

}  // namespace hmn::json
