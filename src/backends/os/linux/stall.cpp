// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/stall.hpp"

#include "model/scan.hpp"

namespace hmn::os {

std::optional<double> parse_stall(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  if (scan::take_word(line) != "some") return std::nullopt;
  std::string_view share = scan::take_word(line);
  if (scan::take_until(share, '=') != "avg10") return std::nullopt;
  const auto whole = scan::decimal(scan::take_until(share, '.'));
  const auto hundredths = scan::decimal(share);
  if (!whole || !hundredths || share.size() != 2) return std::nullopt;
  if (*whole > 100 || *whole * 100 + *hundredths > 10000) return std::nullopt;
  return static_cast<double>(*whole * 100 + *hundredths) / 100;
}

}  // namespace hmn::os
