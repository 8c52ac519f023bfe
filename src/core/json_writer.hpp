// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Appends JSON to a string, without spaces and without a document tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hmn {

class json_writer {
 public:
  // Reserves `likely` bytes. `out` is complete after the writer's destruction.
  explicit json_writer(std::string& out, std::size_t likely = 256);
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;
  ~json_writer();

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
  char* reserve(std::size_t bytes);
  void raw(std::string_view literal);
  template <class T>
  void digits(T n);

  std::string& out_;  // resized to its capacity; the text ends at used_
  std::size_t used_;
  bool first_ = true;  // no comma before the next item
};

}  // namespace hmn
