// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"

namespace hmn::cli {

// How much could be allocated on a device now.
struct free_memory {
  gpu of;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> total;  // more than this will never be there
  bool is_estimated = false;  // the device sleeps: nothing runs there, so that it is all of it
  std::string why;            // bytes are not known
};

// Of each device that programs can be given; for one that is divided, its partitions instead.
std::vector<free_memory> free_memory_of_all(const session& in,
                                            const hypomnesis::snapshot& snapshot);

// The one with the most free_memory, where that is enough.
const free_memory* largest_free(const std::vector<free_memory>& all, std::uint64_t wanted);
// No device will ever have so much.
bool is_impossible(const std::vector<free_memory>& all, std::uint64_t wanted);

}  // namespace hmn::cli
