// SPDX-License-Identifier: MIT OR Apache-2.0
//
// ras/umc_err_count: "ue: 0" and "ce: 12", errors of the memory since the driver was loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hmn::amdgpu {

struct error_counts {
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrected;
};

// Pure. "Query currently inaccessible" tells neither.
error_counts parse_error_counts(std::string_view text) noexcept;

}  // namespace hmn::amdgpu
