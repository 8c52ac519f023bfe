// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Answers of a fake: a text file named by an environment variable, one row per line, split at
// ";". Without the file there is none.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace fake {

using Cells = std::vector<std::string>;

inline std::vector<Cells> read_rows(const char* variable) {
  std::vector<Cells> rows;
  const char* const path = std::getenv(variable);
  std::ifstream file(path != nullptr ? path : "");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    Cells row{""};
    for (const char c : line) {
      if (c == ';') {
        row.emplace_back();
      } else {
        row.back() += c;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Numbers of base 10, or of 16 with "0x".
inline unsigned long long number(const Cells& row, std::size_t column) {
  return column < row.size() ? std::strtoull(row[column].c_str(), nullptr, 0) : 0;
}

inline unsigned long setting(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::strtoul(value, nullptr, 0) : 0;
}

// HMN_FAKE_LIE: a call and what it does, such as "GetDesc1=untouched". A number is what it returns.
inline bool lies(const std::string& call, const std::string& behaviour) {
  const char* const lie = std::getenv("HMN_FAKE_LIE");
  return lie != nullptr && lie == call + "=" + behaviour;
}

// Returns the error of the call; 0: none.
inline unsigned long refusal(const std::string& call) {
  const std::string lie = std::getenv("HMN_FAKE_LIE") != nullptr ? std::getenv("HMN_FAKE_LIE") : "";
  if (lie.rfind(call + "=0x", 0) != 0) return 0;
  return std::strtoul(lie.c_str() + call.size() + 1, nullptr, 0);
}

inline std::wstring wide(const std::string& ascii) {
  return {ascii.begin(), ascii.end()};
}

}  // namespace fake
