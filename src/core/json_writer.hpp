// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Appends JSON to a text: no spaces, no document in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hmn {

class json_writer {
 public:
  // `likely` bytes are made room for at once. `out` has its text when the writer is gone.
  explicit json_writer(std::string& out, std::size_t likely = 256);
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;
  ~json_writer();

  void open(char bracket);
  void close(char bracket);
  // Keys and words are literals that need no escape.
  void key(std::string_view name);
  void word(std::string_view literal);
  // Any bytes: made UTF-8 and escaped.
  void text(std::string_view bytes);
  void null();
  void truth(bool b);
  void number(std::uint64_t n);
  void number(std::int32_t n);
  // The shortest text that reads back as the same double; null when it is not finite.
  void number(double n);

  void member(std::string_view name, std::uint64_t n);
  void member(std::string_view name, const std::optional<std::uint64_t>& n);
  void member(std::string_view name, const std::optional<std::uint32_t>& n);
  void member(std::string_view name, const std::optional<std::int32_t>& n);
  void member(std::string_view name, const std::optional<double>& n);
  void word_member(std::string_view name, std::string_view literal);
  // Null when empty.
  void text_member(std::string_view name, std::string_view bytes);

 private:
  char* room(std::size_t bytes);
  void raw(std::string_view literal);
  template <class T>
  void digits(T n);

  std::string& out_;  // as long as it may get without growing; its text ends at used_
  std::size_t used_;
  bool first_ = true;  // no comma before what comes next
};

}  // namespace hmn
