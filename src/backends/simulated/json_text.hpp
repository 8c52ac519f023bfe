// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Appends JSON to a text, each member with what stands before it.
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
  // An object of a list.
  void begin();
  // Items and members of the list or object that is opened next start on lines of their own.
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
  // The word for a value, the words for its bits; nothing when it has none.
  void one_word(std::string_view name, std::span<const word> words, std::uint32_t value);
  void bit_words(std::string_view name, std::span<const word> words, std::uint32_t bits);
  // As "text", or as "hex" when it is no UTF-8.
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
