// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/nvmap.hpp"

#include "model/scan.hpp"

namespace hmn::tegra {
namespace {

std::string_view take_last_word(std::string_view& line) noexcept {
  line = scan::trim(line);
  std::size_t start = line.size();
  while (start > 0 && !scan::is_blank(line[start - 1])) --start;
  const std::string_view word = line.substr(start);
  line.remove_suffix(word.size());
  return word;
}

// Parses "12345K".
std::optional<std::uint64_t> size_of(std::string_view word) noexcept {
  if (!word.ends_with('K')) return std::nullopt;
  word.remove_suffix(1);
  const auto kibibytes = scan::number(word);
  return kibibytes ? scan::product(*kibibytes, 1024) : std::nullopt;
}

// Names may contain blanks: size and pid come last.
bool take_client(std::string_view line, nvmap_clients& out) {
  const auto size = size_of(take_last_word(line));
  const auto pid = scan::number<std::uint32_t>(take_last_word(line));
  if (!size || !pid || scan::trim(line).empty()) return false;
  // Skips pid 0, the kernel.
  if (*pid != 0) out.all.push_back({*pid, *size});
  return true;
}

}  // namespace

nvmap_clients parse_nvmap(std::string_view text) {
  nvmap_clients out;
  while (!text.empty()) {
    std::string_view line = scan::trim(scan::take_line(text));
    if (line.empty() || line.starts_with("CLIENT")) continue;
    std::string_view rest = line;
    if (scan::take_word(rest) == "total") {
      out.total = size_of(scan::trim(rest));
      out.is_odd = out.is_odd || !out.total;
    } else if (!take_client(line, out)) {
      out.is_odd = true;
    }
  }
  return out;
}

}  // namespace hmn::tegra
