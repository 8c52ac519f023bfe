// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>

namespace hmn::os {

// Counters of one process, in bytes.
struct process_counters {
  std::uint64_t working_set = 0;
  std::uint64_t peak_working_set = 0;
  std::optional<std::uint64_t> private_usage;
  std::optional<std::uint64_t> peak_private_usage;
  std::optional<std::uint64_t> private_working_set;  // since Windows 10 22H2
};

// Returns false with GetLastError set.
bool read_counters(HANDLE process, process_counters& out) noexcept;

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept;

}  // namespace hmn::os
