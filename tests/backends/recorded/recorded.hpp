// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded tool output and kernel files, read in place: HMN_CORPUS_DIR has an INDEX.json that
// describes each file and the values that a correct reader yields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace recorded {

struct Entry {
  std::string file;
  nlohmann::json expected;
  std::string category;

  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string text() const;
  // `key` is in `expected` as a number.
  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] std::uint64_t number(const char* key) const;
};

bool is_here();
// Entries whose file starts with `prefix`.
std::vector<Entry> find_all(std::string_view prefix);
Entry find_one(std::string_view file);

}  // namespace recorded
