// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/process_stat.hpp"

#include <algorithm>
#include <charconv>

namespace hmn::cli {
namespace {

bool is_number(std::string_view text, auto& into) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), into);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

}  // namespace

// proc(5): "pid (comm) state ppid …", the start time being the 22nd field; the name may hold blanks
// and parentheses.
std::optional<process_stat> parse_process_stat(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  process_stat out;
  bool has_parent = false;
  for (int field = 3; field <= 22; ++field) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    const auto end = std::min(text.find_first_of(" \n", begin), text.size());
    const auto part = text.substr(begin, end - begin);
    if (field == 3) out.state = part.front();
    if (field == 4) has_parent = is_number(part, out.parent);
    if (field == 22 && !(has_parent && is_number(part, out.start))) return std::nullopt;
    text.remove_prefix(end);
  }
  return out;
}

std::vector<std::uint32_t> parse_pids(std::string_view text) {
  std::vector<std::uint32_t> all;
  while (true) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return all;
    const auto end = std::min(text.find_first_of(" \n", begin), text.size());
    std::uint32_t pid = 0;
    if (is_number(text.substr(begin, end - begin), pid) && pid != 0) all.push_back(pid);
    text.remove_prefix(end);
  }
}

}  // namespace hmn::cli
