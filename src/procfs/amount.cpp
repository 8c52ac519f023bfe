// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/amount.hpp"

#include "model/scan.hpp"

namespace hmn::procfs {

amount parse_kilobytes(std::string_view text) noexcept {
  constexpr amount malformed{amount::is::malformed, 0};
  const auto count = scan::number(scan::take_word(text));
  if (!count || scan::trim(text) != "kB") return malformed;
  const auto bytes = scan::product(*count, 1024);
  return bytes ? amount{amount::is::known, *bytes} : malformed;
}

void parse_amounts(std::string_view text, std::span<const wanted_amount> wanted) noexcept {
  while (!text.empty()) {
    // Reject a line without its end, which may be incomplete.
    if (text.find('\n') == std::string_view::npos) return;
    std::string_view line = scan::take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    for (const wanted_amount& w : wanted) {
      if (key != w.key || w.into->what != amount::is::missing) continue;
      *w.into = parse_kilobytes(line.substr(colon + 1));
    }
  }
}

}  // namespace hmn::procfs
