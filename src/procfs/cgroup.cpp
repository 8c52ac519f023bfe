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
constexpr std::uint64_t unlimited_from = 0x7fff'ffff'ffff'0000;

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
  CgroupMembership found;
  while (!text.empty()) {
    std::string_view path = scan::take_line(text);
    const std::string_view id = scan::take_until(path, ':');
    const std::string_view controllers = scan::take_until(path, ':');
    if (!scan::number(id) || !path.starts_with('/')) {
      found.is_malformed = true;
      continue;
    }
    if (scan::has_part(controllers, ',', "memory")) return {Version::v1, path};
    if (id != "0" || !controllers.empty()) continue;
    found.hierarchy = Version::v2;
    found.path = path;
  }
  return found;
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
  if (word == "max") return {CgroupLimit::Is::unlimited, 0};
  const auto bytes = scan::decimal(word);
  if (!bytes) return {};
  if (*bytes >= unlimited_from) return {CgroupLimit::Is::unlimited, 0};
  return {CgroupLimit::Is::known, *bytes};
}

std::optional<std::uint64_t> parse_cgroup_usage(std::string_view text) noexcept {
  return scan::decimal(scan::trim(scan::take_line(text)));
}

std::vector<std::uint32_t> parse_group_members(std::string_view text) {
  std::vector<std::uint32_t> all;
  while (!text.empty()) {
    const std::string_view word = scan::trim(scan::take_line(text));
    if (!word.empty()) all.push_back(scan::number<std::uint32_t>(word).value_or(0));
  }
  return all;
}

std::optional<DmemLine> split_dmem_line(std::string_view line) noexcept {
  constexpr std::string_view maker = "drm/";
  std::string_view path = scan::take_word(line);
  if (!path.starts_with(maker)) return std::nullopt;
  path.remove_prefix(maker.size());
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
    const auto bytes = scan::decimal(line->value);
    const auto total = bytes ? scan::sum(sum.bytes.value_or(0), *bytes) : std::nullopt;
    if (!total) return {};
    sum = {total, sum.regions + 1};
  }
  return sum;
}

std::optional<std::uint64_t> parse_descendants(std::string_view text) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == "nr_descendants") return scan::decimal(scan::trim(line));
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

std::uint64_t parse_cgroup_free_cache(std::string_view text,
                                      CgroupMembership::Version hierarchy) noexcept {
  struct Counter {
    std::string_view v2;
    std::string_view v1;  // includes the groups below, if they are charged to it
    std::uint64_t bytes = 0;
  };
  Counter inactive{"inactive_file", "total_inactive_file"};
  Counter active{"active_file", "total_active_file"};
  Counter mapped{"file_mapped", "total_mapped_file"};
  Counter dirty{"file_dirty", "total_dirty"};
  Counter written{"file_writeback", "total_writeback"};
  Counter* const wanted[] = {&inactive, &active, &mapped, &dirty, &written};
  const bool is_v1 = hierarchy == CgroupMembership::Version::v1;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    const std::string_view key = scan::take_word(line);
    const auto* const found =
        std::find_if(std::begin(wanted), std::end(wanted),
                     [&](const Counter* each) { return key == (is_v1 ? each->v1 : each->v2); });
    if (found == std::end(wanted)) continue;
    const auto bytes = scan::decimal(scan::trim(line));
    if (!bytes) return 0;
    (*found)->bytes = *bytes;
  }
  const auto lists = scan::sum(inactive.bytes, active.bytes);
  const auto unwritten = scan::sum(dirty.bytes, written.bytes);
  if (!lists || !unwritten) return 0;
  const auto kept = scan::sum(std::min(mapped.bytes, active.bytes), *unwritten);
  return kept && *kept < *lists ? *lists - *kept : 0;
}

bool Mount::is_cgroup_v1_memory() const noexcept {
  return type == "cgroup" && scan::has_part(super_options, ',', "memory");
}

std::optional<Mount> parse_mount(std::string_view line) noexcept {
  Mount m;
  for (int ids = 0; ids < 3; ++ids) scan::take_word(line);
  m.root = scan::take_word(line);
  m.point = scan::take_word(line);
  scan::take_word(line);  // options of this mount
  std::string_view word = scan::take_word(line);
  while (!word.empty() && word != "-") word = scan::take_word(line);  // optional fields
  m.type = scan::take_word(line);
  scan::take_word(line);  // source
  m.super_options = scan::take_word(line);
  if (word != "-" || m.type.empty() || !m.root.starts_with('/')) return std::nullopt;
  return m;
}

std::string unescape_mount(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (!is_escape(text)) {
      plain += text[0];
      text.remove_prefix(1);
      continue;
    }
    plain += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
    text.remove_prefix(4);
  }
  return plain;
}

std::optional<std::string> find_cgroup_v2_mount(std::string_view text) {
  while (!text.empty()) {
    const auto m = parse_mount(scan::take_line(text));
    if (m && m->is_cgroup_v2() && m->root == "/") return unescape_mount(m->point);
  }
  return std::nullopt;
}

std::optional<std::string_view> below_mount(std::string_view root, std::string_view path) noexcept {
  if (root == "/") root = "";
  if (!path.starts_with(root)) return std::nullopt;
  std::string_view rest = path.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (scan::has_part(rest, '/', "..")) return std::nullopt;
  return rest;
}

}  // namespace hmn::procfs
