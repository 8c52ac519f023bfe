// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"

namespace hmn::cli {

// How much could be allocated on a device now.
struct room {
  gpu of;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> total;  // more than this will never be there
  bool is_estimated = false;  // the device sleeps: nothing runs there, so that it is all of it
  std::string why;            // bytes are not known
};

// Of each device that programs can be given; for one that is divided, its partitions instead.
std::vector<room> rooms_of(const session& in, const hypomnesis::snapshot& snapshot);

// The one with the most room, where that is enough.
const room* roomiest(const std::vector<room>& all, std::uint64_t wanted);
// No device will ever have so much.
bool is_impossible(const std::vector<room>& all, std::uint64_t wanted);

}  // namespace hmn::cli
