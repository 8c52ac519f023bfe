// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Memory of a device from NVML, and its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/session.hpp"
#include "model/device.hpp"
#include "model/pool.hpp"

namespace hmn::nvml {

// Returns a device's own pool, without sizes.
Pool own_pool() noexcept;

// Set the sizes of a pool; contradictory ones leave the total only. total = reserved + free + used.
// Some drivers include reserved in used; it is subtracted.
Code set_sizes(Pool& of, const MemoryV2& reported) noexcept;
// total = free + used, used includes reserved.
Code set_sizes(Pool& of, const MemoryV1& reported) noexcept;

// Whether it returned sizes of the memory, or at least their total.
constexpr bool has_answered(Code c) noexcept {
  return c == success || c == contradictory;
}

// Reads the sizes of a pool. `from`: the function that returned the code.
Code ask_memory(const Topic& t, Session& s, KnownDevice& of, Pool& out, const char*& from);

// `answer`, `total`: from ask_memory(). `shared_total`: from read_shared_total().
MemoryKind kind_of_memory(const MemoryTraits& traits, Code answer,
                          std::optional<std::uint64_t> total,
                          std::optional<std::uint64_t> shared_total) noexcept;

MemoryTraits ask_traits(const Topic& t, const Session& s, Handle h, const Device& of);

// Reads the total host RAM, if it may be the device's memory.
std::optional<std::uint64_t> read_shared_total(const MemoryTraits& of,
                                               const std::string& proc_root);

}  // namespace hmn::nvml
