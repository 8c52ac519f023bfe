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
  Node& n = out.nodes[name];
  words >> n.language;
  if (n.language != "i915" && n.language != "xe") refuse(line);
  while (words >> word) {
    const std::size_t is = word.find('=');
    if (is == std::string::npos) refuse(line);
    n.rules[word.substr(0, is)] = std::strtoull(word.c_str() + is + 1, nullptr, 0);
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
      Region r;
      words >> r.memory_class >> r.instance >> r.size >> r.used >> r.visible >> r.visible_used;
      if (!words) refuse(line);
      out.nodes[word].regions.push_back(r);
    } else {
      refuse(line);
    }
  }
  return out;
}

}  // namespace fake_drm
