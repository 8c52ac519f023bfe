// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writes JSON into a buffer, without spaces and without a document tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hmn {

class json_writer {
 public:
  // What does not fit is only counted: if size() is greater than that of `out`, what is there is of
  // no use.
  explicit json_writer(std::span<char> out) noexcept : out_(out) {}
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;

  // Returns the size of the whole text.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void open(char bracket);
  void close(char bracket);
  // Writes a literal that needs no escape, as all keys and words are.
  void key(std::string_view name);
  void word(std::string_view literal);
  // Writes any bytes as escaped UTF-8.
  void text(std::string_view bytes);
  void null();
  void truth(bool b);
  void number(std::uint64_t n);
  void number(std::int32_t n);
  // Writes the shortest text that reads back as the same double; null when it is not finite.
  void number(double n);

  void member(std::string_view name, std::uint64_t n);
  void member(std::string_view name, const std::optional<std::uint64_t>& n);
  void member(std::string_view name, const std::optional<std::uint32_t>& n);
  void member(std::string_view name, const std::optional<std::int32_t>& n);
  void member(std::string_view name, const std::optional<double>& n);
  void word_member(std::string_view name, std::string_view literal);
  // Writes null for empty `bytes`.
  void text_member(std::string_view name, std::string_view bytes);

 private:
  char* take(std::size_t bytes);
  void put(char c);
  void raw(std::string_view literal);

  std::span<char> out_;
  std::size_t size_ = 0;
  bool first_ = true;  // no comma before the next item
};

}  // namespace hmn
