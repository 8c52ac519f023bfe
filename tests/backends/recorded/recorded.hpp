// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded tool output and kernel files, read in place: HMN_CORPUS_DIR holds an INDEX.json that
// describes each and what a right reader yields.
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
std::vector<Entry> all(std::string_view prefix);
Entry one(std::string_view file);

}  // namespace recorded
