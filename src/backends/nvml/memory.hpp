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
Pool make_own_pool() noexcept;

// Set the sizes of a pool; contradictory ones leave the total only. total = reserved + free + used.
// Some drivers include reserved in used; it is subtracted.
Code set_sizes(Pool& pool, const MemoryV2& memory) noexcept;
// total = free + used, used includes reserved.
Code set_sizes(Pool& pool, const MemoryV1& memory) noexcept;

// Whether the call returned the memory's sizes, or at least the total.
constexpr bool has_memory_total(Code c) noexcept {
  return c == success || c == contradictory;
}

// Reads the sizes of a pool. `function_name`: the function that returned the code.
Code query_memory(const CallContext& context, Session& session, KnownDevice& device, Pool& pool,
                  const char*& function_name);

// `answer`, `total`: from query_memory(). `shared_total`: from read_shared_total().
MemoryKind derive_memory_kind(const MemoryTraits& traits, Code answer,
                              std::optional<std::uint64_t> total,
                              std::optional<std::uint64_t> shared_total) noexcept;

MemoryTraits query_traits(const CallContext& context, const Session& session, Handle handle,
                          const Device& device);

// Reads the total host RAM, if it may be the device's memory.
std::optional<std::uint64_t> read_shared_total(const MemoryTraits& traits,
                                               const std::string& proc_root);

}  // namespace hmn::nvml
