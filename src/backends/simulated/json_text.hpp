// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writer that appends JSON to a text, with separators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/simulated/reader.hpp"

namespace hmn::simulated {

class json_text {
 public:
  [[nodiscard]] std::string& text() noexcept { return out_; }

  void open(char bracket);
  void close(char bracket);
  // Opens an object in a list.
  void begin();
  // Puts items and members of the next list or object on separate lines.
  void line();
  void key(std::string_view name);
  void item(std::string_view text);
  void member(std::string_view name, std::string_view text);
  void member(std::string_view name, std::uint64_t n);
  void truth(std::string_view name);
  template <class T>
  void known(std::string_view name, const std::optional<T>& value) {
    if (value) number(name, *value);
  }
  // Writes the word for a value, or the words for its bits; nothing if it has none.
  void one_word(std::string_view name, std::span<const word> words, std::uint32_t value);
  void bit_words(std::string_view name, std::span<const word> words, std::uint32_t bits);
  // Writes "text", or "hex" if it is not UTF-8.
  void bytes(std::string_view raw);

 private:
  void number(std::string_view name, std::uint64_t n) { member(name, n); }
  void number(std::string_view name, std::uint32_t n) { member(name, std::uint64_t{n}); }
  void number(std::string_view name, double n);
  void separate();
  void quote(std::string_view text);

  std::string out_;
  bool first_ = true;
};

}  // namespace hmn::simulated
