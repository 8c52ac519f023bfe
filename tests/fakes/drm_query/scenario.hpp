// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_drm {

struct Region {
  std::uint16_t memory_class = 0, instance = 0;
  std::uint64_t size = 0, used = 0, visible = 0, visible_used = 0;
};

struct Node {
  std::string language;
  std::map<std::string, std::uint64_t> rules;
  std::vector<Region> regions;

  std::uint64_t rule(const char* name) const {
    const auto it = rules.find(name);
    return it == rules.end() ? 0 : it->second;
  }
};

struct Scenario {
  bool perfmon = false;
  std::map<std::string, Node> nodes;
};

Scenario parse(const std::string& text);

}  // namespace fake_drm
