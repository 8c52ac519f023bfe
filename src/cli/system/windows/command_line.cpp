// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/command_line.hpp"

#include <string_view>

namespace hmn::cli {
namespace {

bool needs_quotes(std::string_view word) {
  return word.empty() || word.find_first_of(" \t\n\v\"") != std::string_view::npos;
}

// The name of the program ends at its second quote: backslashes mean nothing in it.
std::string quoted_program(const std::string& word) {
  return needs_quotes(word) ? '"' + word + '"' : word;
}

// Backslashes are doubled where they stand before a quote, one more hides it ("Parsing C
// command-line arguments" of the C runtime).
std::string quoted(std::string_view word) {
  if (!needs_quotes(word)) return std::string(word);
  std::string line = "\"";
  std::size_t backslashes = 0;
  for (const char each : word) {
    if (each == '"') line.append(backslashes + 1, '\\');
    backslashes = each == '\\' ? backslashes + 1 : 0;
    line += each;
  }
  return line.append(backslashes, '\\') + '"';
}

}  // namespace

std::string command_line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& each : words) line += line.empty() ? quoted_program(each) : ' ' + quoted(each);
  return line;
}

}  // namespace hmn::cli
