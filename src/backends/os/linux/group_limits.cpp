// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/group_limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/system_override.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/tree.hpp"

namespace hmn::os {
namespace {

using procfs::below_mount;
using procfs::CgroupLimit;
using procfs::CgroupMembership;
using procfs::parse_cgroup_free_cache;
using procfs::parse_cgroup_hierarchical_limit;
using procfs::parse_cgroup_limit;
using procfs::parse_cgroup_membership;
using procfs::parse_cgroup_usage;
using procfs::parse_mount;
using procfs::parse_v2_membership;
using procfs::ProcPath;
using procfs::unescape_mount;

using Version = CgroupMembership::Version;
using LimitIs = CgroupLimit::Is;

constexpr std::size_t membership_cap = 1U << 20;
constexpr std::size_t mounts_cap = 16U << 20;
// memory.stat has about 70 lines; a line that is cut off would count as 0.
constexpr std::size_t file_cap = 16384;

// Folder of a group, which is shortened to climb to the mount.
struct Group {
  std::string folder;
  std::size_t mount_length;

  [[nodiscard]] std::string file(std::string_view name) const {
    return compose({folder, "/", name});
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return platform::exists(file(name).c_str());
  }
  [[nodiscard]] bool is_of_mount() const noexcept { return folder.size() == mount_length; }
  bool climb() {
    if (is_of_mount()) return false;
    folder.resize(folder.rfind('/'));
    return true;
  }
};

std::string_view text_of(platform::KeptFile& file, std::span<char> buffer, int& error) {
  const auto got = file.read(buffer);
  error = got.error;
  return {buffer.data(), got && got.value < buffer.size() ? got.value : 0};
}

void lower(std::optional<std::uint64_t>& left, std::uint64_t limit, std::uint64_t held) {
  const std::uint64_t here = limit - std::min(limit, held);
  left = std::min(here, left.value_or(here));
}

// Returns none if the folder does not exist.
std::optional<Group> group_at(std::string_view mount, std::string_view below) {
  Group found{compose({mount, below}), mount.size()};
  if (!platform::exists(found.folder.c_str())) return std::nullopt;
  return found;
}

// v1 before 5.11: a group without use_hierarchy does not count its children's usage. That cannot
// change while the group has children.
bool charges_children(const Group& at, bool is_v1) {
  if (!is_v1) return true;
  std::array<char, 16> buffer;
  const auto got = platform::read_small(at.file("memory.use_hierarchy").c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  return scan::trim(scan::take_line(text)) != "0";
}

// Returns whether the mount's own group is the machine's, which can have no limit, and no group
// above it. In a container it is one of many.
bool is_topmost(const Group& at, bool is_v1) {
  if (!at.is_of_mount()) return false;
  return is_v1 ? at.has("release_agent") : at.has("cgroup.controllers") && !at.has("cgroup.events");
}

// Of several mounts the one with the topmost root shows the most groups.
std::optional<Group> find_by_mounts(const std::string& proc_root, const CgroupMembership& own) {
  std::string text;
  const ProcPath path(proc_root, "self", "mountinfo");
  if (const auto cut = platform::read_whole(path.c_str(), text, mounts_cap); !cut) return {};
  std::optional<Group> best;
  std::size_t best_root = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto m = parse_mount(scan::take_line(rest));
    if (!m || !(own.hierarchy == Version::v1 ? m->is_cgroup_v1_memory() : m->is_cgroup_v2()))
      continue;
    const std::string root = unescape_mount(m->root);
    const auto below = below_mount(root, own.path);
    if (!below || (best && root.size() >= best_root)) continue;
    auto candidate = group_at(unescape_mount(m->point), *below);
    if (!candidate) continue;
    best = std::move(candidate);
    best_root = root.size();
  }
  return best;
}

std::optional<Group> find_group(const std::string& proc_root, const std::string& cgroup_root,
                                const CgroupMembership& own) {
  if (cgroup_root.empty()) return find_by_mounts(proc_root, own);
  const auto below = below_mount("/", own.path);
  if (!below) return std::nullopt;
  const char* const hierarchy = own.hierarchy == Version::v1 ? "/memory" : "/unified";
  auto found = group_at(cgroup_root + hierarchy, *below);
  return found ? std::move(found) : group_at(cgroup_root, *below);
}

}  // namespace

GroupLimits::Level::Level(std::string_view folder, bool is_v1)
    : limit(compose({folder, is_v1 ? "/memory.limit_in_bytes" : "/memory.max"})),
      usage(compose({folder, is_v1 ? "/memory.usage_in_bytes" : "/memory.current"})),
      stat(compose({folder, "/memory.stat"})) {}

GroupLimits::GroupLimits(const std::string& proc_root, const std::string& cgroup_root)
    : proc_root_(proc_root),
      cgroup_root_(cgroup_root),
      membership_(proc_root + "/self/cgroup"),
      mounts_(proc_root + "/self/mountinfo") {}

MemoryLimit GroupLimits::read() {
  const std::unique_lock only(mutex_, std::try_to_lock);
  // After a fork during another thread's reading the lock is never released. A recording needs to
  // see all files.
  if (!only.owns_lock() || platform::SystemOverride::of_thread() != nullptr) {
    return GroupLimits(proc_root_, cgroup_root_).find();
  }
  return find();
}

MemoryLimit GroupLimits::find() {
  std::array<char, 16384> buffer;
  const auto got = membership_.read(buffer);
  const bool is_missing = !got && got.error == ENOENT;
  std::string_view text(buffer.data(), got ? got.value : 0);
  if (is_missing || (got && text.empty())) return {{}, {}, {}, !has_no_groups()};
  const bool is_cut = text.size() == buffer.size();
  if (is_cut) text = text.substr(0, text.rfind('\n') + 1);
  if (known_.empty() || text != known_ || (cgroup_root_.empty() && mounts_.has_news())) {
    known_.clear();
    levels_.clear();
    const CgroupMembership own = parse_cgroup_membership(text);
    const bool is_malformed = own.is_malformed || is_cut || !got;
    if (own.hierarchy == Version::none) return {{}, {}, {}, is_malformed};
    if (!open_levels(own)) return {{}, {}, {}, true};
    is_malformed_ = is_malformed;
    known_ = text;
  }
  return look();
}

// The kernel lists no group, or has no list. That is true of one without control groups, or with
// none mounted; where one is mounted, the caller is in a group.
bool GroupLimits::has_no_groups() const {
  if (!cgroup_root_.empty()) {
    bool is_empty = true;
    (void)platform::for_each_entry(cgroup_root_.c_str(),
                                   [&](std::string_view) { return is_empty = false; });
    return is_empty;
  }
  std::string text;
  const ProcPath path(proc_root_, "self", "mountinfo");
  if (const auto cut = platform::read_whole(path.c_str(), text, mounts_cap); !cut) return false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto m = parse_mount(scan::take_line(rest));
    if (m && (m->type == "cgroup" || m->is_cgroup_v2())) return false;
  }
  return true;
}

bool GroupLimits::open_levels(const procfs::CgroupMembership& own) {
  std::array<char, 1> any;
  // Opened before the groups are read, so that no change is missed.
  if (cgroup_root_.empty()) static_cast<void>(mounts_.read(any));
  auto at = find_group(proc_root_, cgroup_root_, own);
  if (!at) return false;
  hierarchy_ = own.hierarchy;
  const bool is_v1 = own.hierarchy == Version::v1;
  do {
    is_all_ = is_topmost(*at, is_v1);
    if (is_all_) break;
    levels_.emplace_back(at->folder, is_v1);
  } while (at->climb() && charges_children(*at, is_v1));
  return true;
}

MemoryLimit GroupLimits::look() {
  std::array<char, 256> buffer;
  MemoryLimit found;
  found.is_partial = is_malformed_;
  for (Level& each : levels_) {
    int error = 0;
    const CgroupLimit limit = parse_cgroup_limit(text_of(each.limit, buffer, error));
    // v2: there is no limit in the root, nor in a group whose parent did not enable the controller.
    if (error == ENOENT && hierarchy_ == Version::v2) continue;
    if (error != 0 || limit.what == LimitIs::malformed) found.is_partial = true;
    if (limit.what != LimitIs::known) continue;
    const Use now = use_of(each, found);
    lower(found.left, limit.bytes, now.held);
    // Of equal limits the outer group's counts, which comes last.
    if (found.bytes && limit.bytes > *found.bytes) continue;
    found.bytes = limit.bytes;
    found.used = now.charged;
  }
  if (!is_all_ && hierarchy_ == Version::v1) look_above(found);
  return found;
}

// A group that is not mounted here may have the lowest limit. Its use is unknown, but at least that
// of the groups below it.
void GroupLimits::look_above(MemoryLimit& found) {
  std::array<char, file_cap> buffer;
  int error = 0;
  const auto limit = parse_cgroup_hierarchical_limit(text_of(levels_.front().stat, buffer, error));
  if (error != ENOENT && limit.what == LimitIs::malformed) found.is_partial = true;
  if (limit.what != LimitIs::known || (found.bytes && limit.bytes >= *found.bytes)) return;
  found.bytes = limit.bytes;
  found.used.reset();
  lower(found.left, limit.bytes, use_of(levels_.back(), found).held);
}

// Without memory.stat, all that is charged counts as held.
GroupLimits::Use GroupLimits::use_of(Level& at, MemoryLimit& found) const {
  std::array<char, file_cap> buffer;
  int error = 0;
  Use now{parse_cgroup_usage(text_of(at.usage, buffer, error))};
  if (error == 0 && now.charged) {
    const std::uint64_t cache =
        parse_cgroup_free_cache(text_of(at.stat, buffer, error), hierarchy_);
    now.held = *now.charged - std::min(*now.charged, cache);
  }
  if (error != ENOENT && (error != 0 || !now.charged)) found.is_partial = true;
  return now;
}

void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& out) {
  std::string text;
  const ProcPath path(proc_root, "self", "cgroup");
  if (const auto cut = platform::read_whole(path.c_str(), text, membership_cap); !cut) return;
  const CgroupMembership own = parse_v2_membership(text);
  if (own.hierarchy == Version::none) return;
  auto place = find_group(proc_root, cgroup_root, own);
  if (!place) return;
  do {
    out.push_back(place->folder);
  } while (place->climb());
}

}  // namespace hmn::os
