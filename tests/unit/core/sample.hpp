// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Snapshots as tests want them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/snapshot.hpp"

namespace sample {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

hmn::SnapshotDevice device(std::uint32_t index, std::string_view name);

hmn::Pool main_pool(std::uint32_t device_index, std::optional<std::uint64_t> total,
                    std::optional<std::uint64_t> used, std::optional<std::uint64_t> free = {});

// Every field of every struct is there, and no two numbers are the same.
hmn::Snapshot full();

}  // namespace sample
