// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"

namespace hmn::cli {

// Memory that could be allocated on a device now.
struct free_memory {
  gpu of;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> total;  // upper limit of future free memory
  bool is_estimated = false;           // the device is asleep: unused, hence all free
  std::string why;                     // reason for unknown bytes
};

// Returns why nothing is known to be usable on a device of a snapshot with pools.
std::string why_not_usable(const gpu& of, const hypomnesis::snapshot& snapshot);

// Returns each assignable device; for one that is divided, its partitions instead.
std::vector<free_memory> free_memory_of_all(const session& in,
                                            const hypomnesis::snapshot& snapshot);

// Returns the device with the most free memory, if that suffices.
const free_memory* largest_free(const std::vector<free_memory>& all, std::uint64_t wanted);
// Returns whether no device can ever have this much.
bool is_impossible(const std::vector<free_memory>& all, std::uint64_t wanted);

// Returns whether limits of control groups leave less than the machine has available.
bool is_limited(const hypomnesis::system_memory& ram);
// Returns how much of the control group's limit is in use: of what is charged to it, cache that the
// kernel gives back is free.
std::optional<std::uint64_t> used_of_limit(const hypomnesis::system_memory& ram);

}  // namespace hmn::cli
