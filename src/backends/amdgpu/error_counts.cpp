// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/error_counts.hpp"

#include "model/scan.hpp"

namespace hmn::amdgpu {

error_counts parse_error_counts(std::string_view text) noexcept {
  error_counts out;
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view key = scan::take_until(line, ':');
    const auto count = scan::decimal(scan::trim(line));
    if (key == "ce" && !out.corrected) out.corrected = count;
    if (key == "ue" && !out.uncorrected) out.uncorrected = count;
  }
  return out;
}

}  // namespace hmn::amdgpu
