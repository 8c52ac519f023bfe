// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include <algorithm>
#include <iterator>

#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

// Limit written by v1 for "none": PAGE_COUNTER_MAX, which depends on the page size
// (include/linux/page_counter.h); this is the value for the largest pages, 64 KiB. Kernels before
// 3.19 wrote up to 2^64 - 1.
constexpr std::uint64_t min_unlimited = 0x7fff'ffff'ffff'0000;

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

bool is_escape(std::string_view text) {
  return text.size() >= 4 && text[0] == '\\' && text[1] <= '3' && is_octal(text[1]) &&
         is_octal(text[2]) && is_octal(text[3]);
}

}  // namespace

CgroupMembership parse_cgroup_membership(std::string_view text) noexcept {
  using Version = CgroupMembership::Version;
  CgroupMembership membership;
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    const std::string_view controllers = scan::take_until(path, ':');
    if (!scan::parse_number(id) || !path.starts_with('/')) {
      membership.is_malformed = true;
      continue;
    }
    if (scan::has_part(controllers, ',', "memory")) return {Version::v1, path};
    if (id != "0" || !controllers.empty()) continue;
    membership.version = Version::v2;
    membership.path = path;
  }
  return membership;
}

CgroupMembership parse_v2_membership(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::string_view line = scan::take_line(text);
    if (line.starts_with("0::/")) return {CgroupMembership::Version::v2, line.substr(3)};
  }
  return {};
}

CgroupLimit parse_cgroup_limit(std::string_view text) noexcept {
  const std::string_view word = scan::trim(scan::take_line(text));
  if (word == "max") return {CgroupLimit::State::unlimited, 0};
  const auto bytes = scan::parse_decimal(word);
  if (!bytes) return {};
  if (*bytes >= min_unlimited) return {CgroupLimit::State::unlimited, 0};
  return {CgroupLimit::State::limited, *bytes};
}

std::optional<std::uint64_t> parse_cgroup_usage(std::string_view text) noexcept {
  return scan::parse_decimal(scan::trim(scan::take_line(text)));
}

std::vector<std::uint32_t> parse_group_pids(std::string_view text) {
  std::vector<std::uint32_t> pids;
  while (!text.empty()) {
    const std::string_view word = scan::trim(scan::take_line(text));
    if (!word.empty()) pids.push_back(scan::parse_number<std::uint32_t>(word).value_or(0));
  }
  return pids;
}

std::optional<DmemLine> split_dmem_line(std::string_view line) noexcept {
  constexpr std::string_view prefix = "drm/";
  std::string_view path = scan::take_word(line);
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  const std::string_view device = scan::take_until(path, '/');
  return DmemLine{device, path, scan::trim(line)};
}

VideoMemory parse_video_memory(std::string_view text, std::string_view pci_bus_id) noexcept {
  VideoMemory sum;
  const auto device = parse_pci_address(pci_bus_id);
  while (!text.empty()) {
    const auto line = split_dmem_line(scan::take_line(text));
    if (!line || !line->region.starts_with("vram")) continue;
    const auto address = parse_pci_address(line->device);
    if (!address || address != device) continue;
    const auto bytes = scan::parse_decimal(line->value);
    const auto total = bytes ? scan::checked_add(sum.bytes.value_or(0), *bytes) : std::nullopt;
    if (!total) return {};
    sum = {total, sum.regions + 1};
  }
  return sum;
}

std::optional<std::uint64_t> parse_descendants(std::string_view text) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == "nr_descendants") return scan::parse_decimal(scan::trim(line));
  }
  return std::nullopt;
}

CgroupLimit parse_cgroup_hierarchical_limit(std::string_view text) noexcept {
  constexpr std::string_view key = "hierarchical_memory_limit ";
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (line.starts_with(key)) return parse_cgroup_limit(line.substr(key.size()));
  }
  return {};
}

std::uint64_t parse_cgroup_reclaimable_cache(std::string_view text,
                                      CgroupMembership::Version version) noexcept {
  struct Counter {
    std::string_view v2;
    std::string_view v1;  // includes the groups below, if they are charged to it
    std::uint64_t bytes = 0;
  };
  Counter inactive{"inactive_file", "total_inactive_file"};
  Counter active{"active_file", "total_active_file"};
  Counter mapped{"file_mapped", "total_mapped_file"};
  Counter dirty{"file_dirty", "total_dirty"};
  Counter writeback{"file_writeback", "total_writeback"};
  Counter* const counters[] = {&inactive, &active, &mapped, &dirty, &writeback};
  const bool is_v1 = version == CgroupMembership::Version::v1;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view key = scan::take_word(line);
    const auto* const match =
        std::find_if(std::begin(counters), std::end(counters),
                     [&](const Counter* entry) { return key == (is_v1 ? entry->v1 : entry->v2); });
    if (match == std::end(counters)) continue;
    const auto bytes = scan::parse_decimal(scan::trim(line));
    if (!bytes) return 0;
    (*match)->bytes = *bytes;
  }
  const auto cache = scan::checked_add(inactive.bytes, active.bytes);
  const auto unwritten = scan::checked_add(dirty.bytes, writeback.bytes);
  if (!cache || !unwritten) return 0;
  const auto pinned = scan::checked_add(std::min(mapped.bytes, active.bytes), *unwritten);
  return pinned && *pinned < *cache ? *cache - *pinned : 0;
}

bool Mount::is_cgroup_v1_memory() const noexcept {
  return type == "cgroup" && scan::has_part(super_options, ',', "memory");
}

std::optional<Mount> parse_mount(std::string_view line) noexcept {
  Mount mount;
  for (int ids = 0; ids < 3; ++ids) scan::take_word(line);
  mount.root = scan::take_word(line);
  mount.point = scan::take_word(line);
  scan::take_word(line);  // options of this mount
  std::string_view word = scan::take_word(line);
  while (!word.empty() && word != "-") word = scan::take_word(line);  // optional fields
  mount.type = scan::take_word(line);
  scan::take_word(line);  // source
  mount.super_options = scan::take_word(line);
  if (word != "-" || mount.type.empty() || !mount.root.starts_with('/')) return std::nullopt;
  return mount;
}

std::string unescape_mount(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (!is_escape(text)) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    result += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
    text.remove_prefix(4);
  }
  return result;
}

std::optional<std::string> find_cgroup_v2_mount(std::string_view text) {
  while (!text.empty()) {
    const auto mount = parse_mount(scan::take_line(text));
    if (mount && mount->is_cgroup_v2() && mount->root == "/") return unescape_mount(mount->point);
  }
  return std::nullopt;
}

std::optional<std::string_view> locate_below_mount(std::string_view root,
                                                   std::string_view path) noexcept {
  if (root == "/") root = "";
  if (!path.starts_with(root)) return std::nullopt;
  std::string_view rest = path.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (scan::has_part(rest, '/', "..")) return std::nullopt;
  return rest;
}

}  // namespace hmn::procfs
