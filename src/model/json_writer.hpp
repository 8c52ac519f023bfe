// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writes JSON without spaces and without a document tree.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/json.hpp"

namespace hmn::json {

class Writer {
 public:
  // Fills a buffer. Bytes that do not fit are only counted: if size() is greater than the buffer's,
  // its content is unusable.
  explicit Writer(std::span<char> buffer) noexcept : buffer_(buffer) {}
  // Appends to a text.
  explicit Writer(std::string& out) noexcept : text_(&out) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void open(char bracket);
  void close(char bracket);
  // Puts the next item or member on a line of its own.
  void newline();
  // Writes a literal that needs no escape, as all keys and words are.
  void key(std::string_view name);
  void word(std::string_view literal);
  // Writes a number that is formatted already.
  void digits(std::string_view numeral) { raw(numeral); }
  // Writes any bytes as UTF-8, with escapes for what would act on a terminal.
  void text(std::string_view bytes);
  void value(const json::Value& node);
  void null();
  void boolean(bool b);
  void number(std::uint64_t n);
  void number(std::int32_t n);
  // Writes the shortest text that reads back as the same double; null when it is not finite.
  void number(double n);

  void member(std::string_view name, std::string_view bytes);
  void member(std::string_view name, std::same_as<bool> auto b) {
    key(name);
    boolean(b);
  }
  void member(std::string_view name, std::uint64_t n);
  void member(std::string_view name, const std::optional<std::uint64_t>& n);
  void member(std::string_view name, const std::optional<std::uint32_t>& n);
  void member(std::string_view name, const std::optional<std::int32_t>& n);
  void member(std::string_view name, const std::optional<double>& n);
  void word_member(std::string_view name, std::string_view literal);
  // Writes null for empty `bytes`.
  void text_member(std::string_view name, std::string_view bytes);

 private:
  char* grow(std::size_t bytes);
  void put(char c);
  void raw(std::string_view literal);

  std::span<char> buffer_;
  std::string* text_ = nullptr;
  std::size_t size_ = 0;
  bool is_first_ = true;  // no comma before the next item
};

}  // namespace hmn::json
