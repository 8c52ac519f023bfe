// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/group_files.hpp"

#include <algorithm>

namespace hmn::cli {
namespace {

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view word_of(std::string_view line, unsigned number) {
  for (; number > 0; --number) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line.substr(0, line.find(' '));
}

}  // namespace

std::optional<std::string> parse_group_path(std::string_view text) {
  while (!text.empty()) {
    const auto line = next_line(text);
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return std::nullopt;
}

// proc(5): id, parent, device, root, place, options, optional fields, "-", kind
std::optional<std::string> parse_group_mount(std::string_view text) {
  while (!text.empty()) {
    const auto line = next_line(text);
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    if (word_of(line.substr(dash + 3), 0) == "cgroup2" && word_of(line, 3) == "/")
      return std::string(word_of(line, 4));
  }
  return std::nullopt;
}

}  // namespace hmn::cli
