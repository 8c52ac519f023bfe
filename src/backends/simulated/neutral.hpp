// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes out of a text what tells who a machine belongs to: names of users and hosts, home folders,
// ids that a manufacturer or a system gave to one thing alone. The same name becomes the same
// stand-in everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::simulated {

class neutral {
 public:
  enum class kind { user, host };

  // Replaced wherever it stands as a word. Some names are too common to tell anything.
  void know(std::string_view name, kind of);
  // Finds names in the home folders that the text mentions.
  void learn(std::string_view text);

  [[nodiscard]] std::string plain(std::string_view text);
  // Only the first argument, which names the program.
  [[nodiscard]] std::string command(std::string_view cmdline);
  // Only what tells where control groups and proc are mounted.
  [[nodiscard]] std::string mounts(std::string_view mountinfo);
  // A file that holds nothing but an id; keeps its length and what stands before "0x".
  [[nodiscard]] std::string id(std::string_view text, int base);
  // KFD's properties: "unique_id 12345".
  [[nodiscard]] std::string properties(std::string_view text);

 private:
  struct name {
    std::string real;
    std::string stand_in;
  };
  [[nodiscard]] const name* name_at(std::string_view text, std::size_t at) const;
  std::size_t number_of(std::string_view id);
  std::size_t take_uuid(std::string_view rest, std::string& out);
  std::size_t take_digits(std::string_view rest, std::string& out);
  std::size_t take_home(std::string_view rest, std::string& out);
  std::size_t take_serial(std::string_view rest, std::string& out);
  static std::string digits(std::size_t number, int base, std::size_t width);

  std::vector<name> names_;  // the longest first
  std::size_t users_ = 0, hosts_ = 0;
  std::vector<std::string> ids_;
};

}  // namespace hmn::simulated
