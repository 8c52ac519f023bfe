// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include <algorithm>

#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

// Returns the reclaimable part: the system would thrash without the other part.
std::uint64_t reclaimable_part(std::uint64_t bytes, std::uint64_t low_watermark) {
  return bytes - std::min(bytes / 2, low_watermark);
}

}  // namespace

Amount parse_kilobytes(std::string_view text) noexcept {
  constexpr Amount malformed{Amount::State::malformed, 0};
  const auto count = scan::parse_decimal(scan::take_word(text));
  if (!count || scan::trim(text) != "kB") return malformed;
  const auto bytes = scan::checked_multiply(*count, 1024);
  return bytes ? Amount{Amount::State::valid, *bytes} : malformed;
}

// Looks for the keys at the beginning of lines only and skips the rest: meminfo is read often, and
// has 55 lines.
void parse_amounts(std::string_view text, std::span<const AmountRequest> requests) noexcept {
  std::size_t left = requests.size();
  while (left != 0) {
    // Ignore a line without its end: it may be incomplete.
    const std::size_t length = text.find('\n');
    if (length == std::string_view::npos) return;
    for (const AmountRequest& request : requests) {
      const std::size_t colon = request.key.size();
      const char* const line = text.data();
      if (colon >= length || line[colon] != ':' || line[0] != request.key[0]) continue;
      if (text.substr(0, colon) != request.key || request.target->state != Amount::State::missing)
        continue;
      std::string_view value = text.substr(colon + 1, length - colon - 1);
      if (value.ends_with('\r')) value.remove_suffix(1);
      *request.target = parse_kilobytes(value);
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
  const auto cached = scan::checked_add(*active, *inactive);
  if (!cached) return std::nullopt;
  const std::uint64_t spare = *unused - std::min(*unused, low_watermark);
  const auto with_cache = scan::checked_add(spare, reclaimable_part(*cached, low_watermark));
  if (!with_cache) return std::nullopt;
  return scan::checked_add(*with_cache,
                           reclaimable_part(reclaimable_slab.value().value_or(0), low_watermark));
}

Meminfo parse_meminfo(std::string_view text) noexcept {
  Meminfo meminfo;
  const AmountRequest requests[] = {
      {"MemTotal", &meminfo.total},           {"MemAvailable", &meminfo.available},
      {"SwapTotal", &meminfo.swap_total},     {"SwapFree", &meminfo.swap_free},
      {"CommitLimit", &meminfo.commit_limit}, {"Committed_AS", &meminfo.committed}};
  parse_amounts(text, requests);
  if (meminfo.available.state != Amount::State::missing) return meminfo;
  const AmountRequest fallback_requests[] = {{"MemFree", &meminfo.free},
                                             {"Active(file)", &meminfo.active_file},
                                             {"Inactive(file)", &meminfo.inactive_file},
                                             {"SReclaimable", &meminfo.reclaimable_slab}};
  parse_amounts(text, fallback_requests);
  return meminfo;
}

std::optional<double> parse_stall(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  if (scan::take_word(line) != "some") return std::nullopt;
  std::string_view share = scan::take_word(line);
  if (scan::take_until(share, '=') != "avg10") return std::nullopt;
  const auto integer_part = scan::parse_decimal(scan::take_until(share, '.'));
  const auto hundredths = scan::parse_decimal(share);
  if (!integer_part || !hundredths || share.size() != 2) return std::nullopt;
  if (*integer_part > 100 || *integer_part * 100 + *hundredths > 10000) return std::nullopt;
  return static_cast<double>(*integer_part * 100 + *hundredths) / 100;
}

std::optional<std::uint64_t> parse_zfs_cache(std::string_view text) noexcept {
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> min_size;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);  // name, type, data
    const std::string_view name = scan::take_word(line);
    scan::take_word(line);
    if (name == "size") size = scan::parse_decimal(scan::trim(line));
    if (name == "c_min") min_size = scan::parse_decimal(scan::trim(line));
  }
  if (!size || !min_size) return std::nullopt;
  return *size - std::min(*size, *min_size);
}

}  // namespace hmn::procfs
