// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Anonymizes text. The same name, word or id gets the same placeholder everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::simulated {

class Anonymizer {
 public:
  enum class Kind { user, host };

  // Replaces the name as a whole word. Some names are too common to identify anyone.
  void add_name(std::string_view name, Kind kind);
  // Takes the kernel's name of a process as that of a program, which may be kept.
  void add_program(std::string_view comm);
  // Learns names from home folders in the text.
  void learn_names(std::string_view text);

  // Anonymizes a text with free words, such as a model's name: replaces names, ids, addresses, and
  // what looks like a path, a password or a token.
  [[nodiscard]] std::string anonymize_free_text(std::string_view text);
  // Anonymizes any other text: keeps numbers and known words (recording_filter.cpp), and
  // replaces all other words. Paths that differ still differ.
  [[nodiscard]] std::string anonymize_words(std::string_view text);
  // Reduces a process's path or title to the name of its program: `comm`, the kernel's name, or the
  // longer name that begins with it. Without `comm`, an unknown name is replaced.
  [[nodiscard]] std::string anonymize_program(std::string_view title, std::string_view comm);
  // Replaces a file that is one id, keeping its length and the text before "0x".
  [[nodiscard]] std::string anonymize_id(std::string_view text, int base);

 private:
  struct Name {
    std::string real;
    std::string substitute;
  };
  [[nodiscard]] const Name* find_name(std::string_view text, std::size_t position) const;
  std::size_t assign_number(std::string_view id);
  std::string_view find_substitute(std::string_view word);
  std::size_t take_uuid(std::string_view rest, std::string& out);
  std::size_t take_hex_id(std::string_view rest, std::string& out);
  std::size_t take_id(std::string_view text, std::size_t position, std::string& out);
  std::size_t take_path(std::string_view text, std::size_t position, std::string& out);
  std::size_t take_secret(std::string_view text, std::size_t position, std::string& out);
  std::size_t take_serial(std::string_view rest, std::string& out);
  std::size_t take_word(std::string_view rest, std::string& out);
  static std::string format_number(std::size_t number, int base, std::size_t width);

  std::vector<Name> names_;  // longest first
  std::size_t users_ = 0, hosts_ = 0;
  std::vector<std::string> programs_;
  std::vector<Name> words_;
  std::vector<std::string> ids_;
};

}  // namespace hmn::simulated
