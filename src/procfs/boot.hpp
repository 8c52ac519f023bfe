// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "procfs/process.hpp"

namespace hmn::procfs {

// Returns a number for the text of sys/kernel/random/boot_id; 0 for anything else.
std::uint64_t parse_boot_id(std::string_view text) noexcept;

// Keys of the processes of a proc tree. They count ticks since the boot: the wall clock may be set
// at any time, so a start time on it identifies nothing.
class BootId {
 public:
  // Returns nullopt where the tree has no id of the boot.
  std::optional<std::uint64_t> find_process_key(std::string_view root, const Stat& stat) noexcept;

 private:
  std::atomic<std::uint64_t> number_{0};  // 0: not read yet
};

// Parses the "btime" line of /proc/stat: seconds since 1970.
std::optional<std::uint64_t> parse_boot_time(std::string_view text) noexcept;

// Start times of processes on the wall clock. The boot time is read only once: it moves when the
// clock is set, and a process must keep its start time.
class BootTime {
 public:
  BootTime() noexcept;

  std::optional<std::uint64_t> unix_ns(std::string_view root, std::uint64_t ticks);

 private:
  std::uint64_t read(std::string_view root);

  const std::uint64_t ticks_per_second_;
  std::atomic<std::uint64_t> seconds_{0};  // 0: not read yet
};

}  // namespace hmn::procfs
