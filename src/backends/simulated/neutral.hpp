// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Anonymizer of text: replaces names of users and hosts, home folders, and unique ids assigned by a
// manufacturer or a system. The same name gets the same placeholder everywhere.
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

  // Replaces it as a whole word. Some names are too common to identify anyone.
  void know(std::string_view name, kind of);
  // Learns names from home folders in the text.
  void learn(std::string_view text);

  [[nodiscard]] std::string plain(std::string_view text);
  // Keeps the first argument only, which is the program.
  [[nodiscard]] std::string command(std::string_view cmdline);
  // Keeps the mounts of control groups and proc only.
  [[nodiscard]] std::string mounts(std::string_view mountinfo);
  // Replaces a file that is a single id; keeps its length and text before "0x".
  [[nodiscard]] std::string id(std::string_view text, int base);
  // Replaces ids in KFD's properties: "unique_id 12345".
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

  std::vector<name> names_;  // longest first
  std::size_t users_ = 0, hosts_ = 0;
  std::vector<std::string> ids_;
};

}  // namespace hmn::simulated
