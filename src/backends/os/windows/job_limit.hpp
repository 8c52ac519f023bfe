// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace hmn::os {

// What the caller's job object allows to be committed; outer jobs cannot be seen.
struct job_limit {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> used;
  bool is_partial = false;  // it could not be asked
};

job_limit read_job_limit() noexcept;

}  // namespace hmn::os
