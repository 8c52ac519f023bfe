// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/statm.hpp"

#include "model/scan.hpp"

namespace hmn::procfs {

std::optional<statm> parse_statm(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  const auto size = scan::decimal(scan::take_word(line));
  const auto resident = scan::decimal(scan::take_word(line));
  // Reject a line without a further word: the second number may be cut.
  if (!size || !resident || scan::take_word(line).empty()) return std::nullopt;
  return statm{*size, *resident};
}

}  // namespace hmn::procfs
