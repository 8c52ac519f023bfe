// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include <algorithm>

#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

// Returns the reclaimable part: the system would thrash without the other part.
std::uint64_t give_up(std::uint64_t bytes, std::uint64_t low_watermark) {
  return bytes - std::min(bytes / 2, low_watermark);
}

}  // namespace

Amount parse_kilobytes(std::string_view text) noexcept {
  constexpr Amount malformed{Amount::Is::malformed, 0};
  const auto count = scan::decimal(scan::take_word(text));
  if (!count || scan::trim(text) != "kB") return malformed;
  const auto bytes = scan::product(*count, 1024);
  return bytes ? Amount{Amount::Is::known, *bytes} : malformed;
}

// Looks for the keys at the beginning of lines only and skips the rest: meminfo is read often, and
// has 55 lines.
void parse_amounts(std::string_view text, std::span<const WantedAmount> wanted) noexcept {
  std::size_t left = wanted.size();
  while (left != 0) {
    // Ignore a line without its end: it may be incomplete.
    const std::size_t length = text.find('\n');
    if (length == std::string_view::npos) return;
    for (const WantedAmount& w : wanted) {
      const std::size_t colon = w.key.size();
      const char* const line = text.data();
      if (colon >= length || line[colon] != ':' || line[0] != w.key[0]) continue;
      if (text.substr(0, colon) != w.key || w.into->what != Amount::Is::missing) continue;
      std::string_view value = text.substr(colon + 1, length - colon - 1);
      if (value.ends_with('\r')) value.remove_suffix(1);
      *w.into = parse_kilobytes(value);
      --left;
    }
    text.remove_prefix(length + 1);
  }
}

std::optional<std::uint64_t> Meminfo::estimate_available(
    std::uint64_t low_watermark) const noexcept {
  const auto unused = free.value();
  const auto active = active_file.value();
  const auto inactive = inactive_file.value();
  if (!unused || !active || !inactive) return std::nullopt;
  const auto cached = scan::sum(*active, *inactive);
  if (!cached) return std::nullopt;
  const std::uint64_t spare = *unused - std::min(*unused, low_watermark);
  const auto with_cache = scan::sum(spare, give_up(*cached, low_watermark));
  if (!with_cache) return std::nullopt;
  return scan::sum(*with_cache, give_up(reclaimable_slab.value().value_or(0), low_watermark));
}

Meminfo parse_meminfo(std::string_view text) noexcept {
  Meminfo m;
  const WantedAmount wanted[] = {{"MemTotal", &m.total},           {"MemAvailable", &m.available},
                                 {"SwapTotal", &m.swap_total},     {"SwapFree", &m.swap_free},
                                 {"CommitLimit", &m.commit_limit}, {"Committed_AS", &m.committed}};
  parse_amounts(text, wanted);
  if (m.available.what != Amount::Is::missing) return m;
  const WantedAmount estimated[] = {{"MemFree", &m.free},
                                    {"Active(file)", &m.active_file},
                                    {"Inactive(file)", &m.inactive_file},
                                    {"SReclaimable", &m.reclaimable_slab}};
  parse_amounts(text, estimated);
  return m;
}

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

std::optional<std::uint64_t> parse_zfs_cache(std::string_view text) noexcept {
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> least;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);  // name, type, data
    const std::string_view name = scan::take_word(line);
    scan::take_word(line);
    if (name == "size") size = scan::decimal(scan::trim(line));
    if (name == "c_min") least = scan::decimal(scan::trim(line));
  }
  if (!size || !least) return std::nullopt;
  return *size - std::min(*size, *least);
}

}  // namespace hmn::procfs
