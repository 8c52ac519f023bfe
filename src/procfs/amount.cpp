// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/amount.hpp"

#include "model/scan.hpp"

namespace hmn::procfs {

amount parse_kilobytes(std::string_view text) noexcept {
  constexpr amount malformed{amount::is::malformed, 0};
  const auto count = scan::decimal(scan::take_word(text));
  if (!count || scan::trim(text) != "kB") return malformed;
  const auto bytes = scan::product(*count, 1024);
  return bytes ? amount{amount::is::known, *bytes} : malformed;
}

// Looks for the keys where lines begin, without a look at the rest of the other lines: meminfo is
// read often, and has 55.
void parse_amounts(std::string_view text, std::span<const wanted_amount> wanted) noexcept {
  std::size_t left = wanted.size();
  while (left != 0) {
    // Reject a line without its end, which may be incomplete.
    const std::size_t length = text.find('\n');
    if (length == std::string_view::npos) return;
    for (const wanted_amount& w : wanted) {
      const std::size_t colon = w.key.size();
      const char* const line = text.data();
      if (colon >= length || line[colon] != ':' || line[0] != w.key[0]) continue;
      if (text.substr(0, colon) != w.key || w.into->what != amount::is::missing) continue;
      std::string_view value = text.substr(colon + 1, length - colon - 1);
      if (value.ends_with('\r')) value.remove_suffix(1);
      *w.into = parse_kilobytes(value);
      --left;
    }
    text.remove_prefix(length + 1);
  }
}

}  // namespace hmn::procfs
