// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Snapshots for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/snapshot.hpp"

namespace sample {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

hmn::SnapshotDevice make_device(std::uint32_t index, std::string_view name);

hmn::Pool make_main_pool(std::uint32_t device_index, std::optional<std::uint64_t> total,
                         std::optional<std::uint64_t> used, std::optional<std::uint64_t> free = {});

// Has every field of every struct, and no two equal numbers.
hmn::Snapshot make_full_snapshot();

}  // namespace sample
