// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/recording_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hmn::cli {
namespace {

// The recording has each file, run and answer on a line of its own.
struct beginning {
  std::string_view text;
  std::string_view prefix;
};
constexpr beginning beginnings[] = {{"{\"path\":\"", ""}, {"{\"node\":\"", "answers of "}};

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Numbers and PCI addresses are "*".
std::string kind_of(std::string_view path) {
  std::string kind;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    kind += '/';
    kind += is_number(part) ? "*" : part;
  }
  return kind;
}

}  // namespace

std::vector<std::string> kinds_in_recording(std::string_view text) {
  std::map<std::string, int> counts;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const auto& each : beginnings) {
      if (!line.starts_with(each.text)) continue;
      const auto rest = line.substr(each.text.size());
      ++counts[std::string(each.prefix) + kind_of(rest.substr(0, rest.find('"')))];
    }
    if (line.starts_with("{\"name\":")) ++counts["a device as its driver describes it"];
  }
  std::vector<std::string> lines;
  for (const auto& [kind, count] : counts) {
    lines.push_back(count == 1 ? kind : fmt::format("{} ({})", kind, count));
  }
  return lines;
}

}  // namespace hmn::cli
