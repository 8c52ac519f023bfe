// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/failure.hpp"
#include "model/host_memory.hpp"

namespace hmn::os {

// Commit limit of the caller's job object; outer jobs are not visible.
struct JobLimit {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> used;
  bool is_partial = false;  // it could not be queried
};

JobLimit read_job_limit() noexcept;

Result<void> read_system_memory(SystemMemory& memory);

}  // namespace hmn::os
