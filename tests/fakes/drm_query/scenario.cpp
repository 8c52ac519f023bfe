// SPDX-License-Identifier: MIT OR Apache-2.0
#include "scenario.hpp"

#include <cstdlib>
#include <sstream>

namespace fake_drm {
namespace {

[[noreturn]] void refuse(const std::string& line) {
  std::fprintf(stderr, "fake_drm: no such line in a scenario: %s\n", line.c_str());
  std::abort();
}

void read_node(std::istringstream& words, const std::string& line, Scenario& out) {
  std::string name, word;
  words >> name;
  Node& node = out.nodes[name];
  words >> node.language;
  if (node.language != "i915" && node.language != "xe") refuse(line);
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(line);
    node.rules[word.substr(0, equals)] = std::strtoull(word.c_str() + equals + 1, nullptr, 0);
  }
}

}  // namespace

Scenario parse(const std::string& text) {
  Scenario out;
  std::istringstream lines(text);
  std::string line, word;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    if (!(words >> word)) continue;
    if (word == "perfmon") {
      out.perfmon = true;
    } else if (word == "node") {
      read_node(words, line, out);
    } else if (word == "region" && words >> word) {
      Region region;
      words >> region.memory_class >> region.instance >> region.size >> region.used >>
          region.visible >> region.visible_used;
      if (!words) refuse(line);
      out.nodes[word].regions.push_back(region);
    } else {
      refuse(line);
    }
  }
  return out;
}

}  // namespace fake_drm
