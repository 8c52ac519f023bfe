// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hmn::procfs {

// Value in the "Key:   123 kB" files of /proc.
struct Amount {
  enum class State { missing, malformed, valid };

  State state = State::missing;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::optional<std::uint64_t> value() const noexcept {
    return state == State::valid ? std::optional(bytes) : std::nullopt;
  }
};

// Parses the text after the colon. A missing unit, or one other than kB, is malformed: a guess
// would be off by a factor of a thousand.
Amount parse_kilobytes(std::string_view text) noexcept;

struct AmountRequest {
  std::string_view key;
  Amount* target;
};

// Fills each amount from the first line that starts with its key and a colon.
void parse_amounts(std::string_view text, std::span<const AmountRequest> requests) noexcept;

// The lines of /proc/meminfo that are used.
struct Meminfo {
  Amount total;
  Amount available;  // Linux 3.14
  Amount swap_total;
  Amount swap_free;
  Amount commit_limit;
  Amount committed;
  // For an estimate, only where `available` is missing.
  Amount free;
  Amount active_file;
  Amount inactive_file;
  Amount reclaimable_slab;

  // Computes the kernel's own estimate (commit 34e431b0ae39) for kernels that do not print it.
  // `low_watermark`: bytes that the kernel keeps free.
  [[nodiscard]] std::optional<std::uint64_t> estimate_available(
      std::uint64_t low_watermark) const noexcept;
};

Meminfo parse_meminfo(std::string_view text) noexcept;

// Parses the percentage of the last 10 s in which at least one task waited for memory: "avg10" of
// the line "some" of /proc/pressure/memory (Linux 4.20, Documentation/accounting/psi.rst).
std::optional<double> parse_stall(std::string_view text) noexcept;

// Parses /proc/spl/kstat/zfs/arcstats: the size of ZFS's cache beyond its minimum, which no line of
// meminfo counts as free. Returns none without the two lines.
std::optional<std::uint64_t> parse_zfs_cache(std::string_view text) noexcept;

}  // namespace hmn::procfs
