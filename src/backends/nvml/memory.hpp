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
pool own_pool() noexcept;

// Set the sizes of a pool; contradictory ones leave the total only. total = reserved + free + used.
// Some drivers include reserved in used; it is subtracted.
code set_sizes(pool& of, const memory_v2& reported) noexcept;
// total = free + used, used includes reserved.
code set_sizes(pool& of, const memory_v1& reported) noexcept;

// Whether it returned sizes of the memory, or at least their total.
constexpr bool has_answered(code c) noexcept {
  return c == success || c == contradictory;
}

// Reads the sizes of a pool. `from`: the function that returned the code.
code ask_memory(const topic& t, session& s, known_device& of, pool& out, const char*& from);

// `answer`, `total`: from ask_memory(). `shared_total`: from read_shared_total().
memory_kind kind_of_memory(const memory_traits& traits, code answer,
                           std::optional<std::uint64_t> total,
                           std::optional<std::uint64_t> shared_total) noexcept;

memory_traits ask_traits(const topic& t, const session& s, handle h, const device& of);

// Reads the total host RAM, if it may be the device's memory.
std::optional<std::uint64_t> read_shared_total(const memory_traits& of,
                                               const std::string& proc_root);

}  // namespace hmn::nvml
