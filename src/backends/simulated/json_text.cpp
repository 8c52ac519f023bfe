// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/json_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/compose.hpp"
#include "model/decimal.hpp"
#include "model/text.hpp"

namespace hmn::simulated {
namespace {

// UTF-8 text; command lines contain NULs.
bool is_text(std::string_view raw) {
  std::string plain(raw);
  std::replace(plain.begin(), plain.end(), '\0', ' ');
  std::string valid;
  append_utf8(valid, plain);
  return valid == plain;
}

}  // namespace

void json_text::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void json_text::open(char bracket) {
  out_ += bracket;
  first_ = true;
}

void json_text::begin() {
  separate();
  open('{');
}

void json_text::close(char bracket) {
  out_ += bracket;
  first_ = false;
}

void json_text::line() {
  separate();
  out_ += '\n';
  first_ = true;
}

void json_text::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
}

void json_text::item(std::string_view text) {
  separate();
  quote(text);
}

void json_text::member(std::string_view name, std::string_view text) {
  key(name);
  quote(text);
}

void json_text::member(std::string_view name, std::uint64_t n) {
  key(name);
  out_ += compose({n});
}

void json_text::number(std::string_view name, double n) {
  if (!std::isfinite(n)) return;
  std::array<char, 32> digits;
  char* const end = write_shortest(digits.data(), n);
  key(name);
  out_.append(digits.data(), end);
}

void json_text::truth(std::string_view name) {
  key(name);
  out_ += "true";
}

void json_text::one_word(std::string_view name, std::span<const word> words, std::uint32_t value) {
  for (const word& w : words) {
    if (w.value == value) return member(name, w.name);
  }
}

void json_text::bit_words(std::string_view name, std::span<const word> words, std::uint32_t bits) {
  if (bits == 0) return;
  key(name);
  open('[');
  for (const word& w : words) {
    if ((bits & w.value) != 0) item(w.name);
  }
  close(']');
}

void json_text::bytes(std::string_view raw) {
  if (is_text(raw)) return member("text", raw);
  std::string digits;
  for (const char c : raw) digits += piece_text(hex(static_cast<unsigned char>(c), 2)).view();
  member("hex", digits);
}

void json_text::quote(std::string_view text) {
  std::string valid;
  if (!is_text(text)) {
    append_utf8(valid, text);
    text = valid;
  }
  out_ += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') {
      out_ += c == '\n' ? "\\n" : "\\t";
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (code < 0x20) {
      out_ += "\\u";
      out_ += piece_text(hex(code, 4)).view();
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

}  // namespace hmn::simulated
