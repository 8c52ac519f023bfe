// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_drm {

struct region {
  std::uint16_t memory_class = 0, instance = 0;
  std::uint64_t size = 0, used = 0, visible = 0, visible_used = 0;
};

struct node {
  std::string language;
  std::map<std::string, std::uint64_t> rules;
  std::vector<region> regions;

  std::uint64_t rule(const char* name) const {
    const auto at = rules.find(name);
    return at == rules.end() ? 0 : at->second;
  }
};

struct scenario {
  bool perfmon = false;
  std::map<std::string, node> nodes;
};

scenario parse(const std::string& text);

}  // namespace fake_drm
