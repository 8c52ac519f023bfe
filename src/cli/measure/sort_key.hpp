// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/expected.hpp"

namespace hmn::cli {

// Order of processes: `--sort` of `hmn ps` and `hmn watch`.
enum class sort_key { vram, shared, total, ram, pid, name };

expected<sort_key> parse_sort_key(std::string_view text);
// Returns the key as in a sentence: "VRAM", "name".
std::string_view name_of(sort_key key) noexcept;

// Returns VRAM and shared memory, as far as known, saturating.
std::optional<std::uint64_t> total_of(const hypomnesis::usage& row) noexcept;
// Orders sizes descending with unknown ones last, names with unknown ones first, then pids, then
// devices.
bool comes_before(const hypomnesis::usage& a, const hypomnesis::usage& b, sort_key by);

}  // namespace hmn::cli
