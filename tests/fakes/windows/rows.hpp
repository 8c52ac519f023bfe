// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a fake answers: a text file named by an environment variable, one row a line, cells between
// ";". Without the file there is none.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace fake {

using cells = std::vector<std::string>;

inline std::vector<cells> rows_of(const char* variable) {
  std::vector<cells> all;
  const char* const path = std::getenv(variable);
  std::ifstream file(path != nullptr ? path : "");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    cells row{""};
    for (const char c : line) {
      if (c == ';') {
        row.emplace_back();
      } else {
        row.back() += c;
      }
    }
    all.push_back(std::move(row));
  }
  return all;
}

// Numbers of base 10, or of 16 with "0x".
inline unsigned long long number(const cells& row, std::size_t at) {
  return at < row.size() ? std::strtoull(row[at].c_str(), nullptr, 0) : 0;
}

inline unsigned long setting(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::strtoul(value, nullptr, 0) : 0;
}

inline std::wstring wide(const std::string& ascii) {
  return {ascii.begin(), ascii.end()};
}

}  // namespace fake
