// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Between the library and its module, which must be of one build: C++ objects cross. What tells
// that is read first, and is C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/simulated/code.hpp"

namespace hmn::simulated {

// A member is only ever added at the end; what follows `interface` means this where it is 1.
struct module_table {
  std::uint32_t interface;
  std::uint32_t layout;  // sizes of what crosses
  const char* version;
  const char* headers;  // digest of those that both are compiled from
  const char* compiler;
  sources_maker make;
};

inline constexpr std::uint32_t module_interface = 1;
inline constexpr char module_entry[] = "hmn_simulation_module";

// Written while building.
extern const char module_headers[];

constexpr std::uint32_t module_layout() noexcept {
  std::uint32_t mixed = 0;
  for (const std::size_t size : {sizeof(std::string), sizeof(std::vector<int>), sizeof(settings),
                                 sizeof(source_list), sizeof(device), sizeof(usage), sizeof(pools),
                                 sizeof(telemetry), sizeof(metric), sizeof(diagnostic)}) {
    mixed = mixed * 31 + static_cast<std::uint32_t>(size);
  }
  return mixed;
}

}  // namespace hmn::simulated
