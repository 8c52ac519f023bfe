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

using procfs::CgroupLimit;
using procfs::CgroupMembership;
using procfs::locate_below_mount;
using procfs::parse_cgroup_reclaimable_cache;
using procfs::parse_cgroup_hierarchical_limit;
using procfs::parse_cgroup_limit;
using procfs::parse_cgroup_membership;
using procfs::parse_cgroup_usage;
using procfs::parse_mount;
using procfs::parse_v2_membership;
using procfs::ProcPath;
using procfs::unescape_mount;

using Version = CgroupMembership::Version;
using LimitState = CgroupLimit::State;

constexpr std::size_t membership_cap = 1U << 20;
constexpr std::size_t mounts_cap = 16U << 20;
// memory.stat has about 70 lines; a line that is cut off would count as 0.
constexpr std::size_t file_cap = 16384;

// Folder of a group; climb() shortens it to the parent's, up to the mount.
struct Group {
  std::string folder;
  std::size_t mount_length;

  [[nodiscard]] std::string file_path(std::string_view name) const {
    return compose({folder, "/", name});
  }
  [[nodiscard]] bool has_file(std::string_view name) const {
    return platform::exists(file_path(name).c_str());
  }
  [[nodiscard]] bool is_mount_folder() const noexcept { return folder.size() == mount_length; }
  bool climb() {
    if (is_mount_folder()) return false;
    folder.resize(folder.rfind('/'));
    return true;
  }
};

std::string_view read_text(platform::CachedFile& file, std::span<char> buffer, int& error) {
  const auto result = file.read(buffer);
  error = result.error;
  return {buffer.data(), result && result.value < buffer.size() ? result.value : 0};
}

void update_left(std::optional<std::uint64_t>& left, std::uint64_t limit,
                 std::uint64_t unreclaimable) {
  const std::uint64_t group_left = limit - std::min(limit, unreclaimable);
  left = std::min(group_left, left.value_or(group_left));
}

// Returns none if the folder does not exist.
std::optional<Group> make_group(std::string_view mount, std::string_view subpath) {
  Group group{compose({mount, subpath}), mount.size()};
  if (!platform::exists(group.folder.c_str())) return std::nullopt;
  return group;
}

// v1 before 5.11: a group without use_hierarchy does not count its children's usage. That cannot
// change while the group has children.
bool charges_children(const Group& group, bool is_v1) {
  if (!is_v1) return true;
  std::array<char, 16> buffer;
  const auto result = platform::read_small(group.file_path("memory.use_hierarchy").c_str(), buffer);
  std::string_view text(buffer.data(), result ? result.value : 0);
  return scan::trim(scan::take_line(text)) != "0";
}

// Returns whether the group is the machine's root group, which has no limit and no group above it.
// In a container, the group at the mount is one of many.
bool is_topmost(const Group& group, bool is_v1) {
  if (!group.is_mount_folder()) return false;
  return is_v1 ? group.has_file("release_agent")
               : group.has_file("cgroup.controllers") && !group.has_file("cgroup.events");
}

// Among several mounts, the one with the topmost root shows the most groups.
std::optional<Group> find_in_mounts(const std::string& proc_root,
                                    const CgroupMembership& membership) {
  std::string text;
  const ProcPath path(proc_root, "self", "mountinfo");
  if (const auto result = platform::read_whole(path.c_str(), text, mounts_cap); !result) return {};
  std::optional<Group> best;
  std::size_t best_root_length = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto mount = parse_mount(scan::take_line(rest));
    if (!mount || !(membership.version == Version::v1 ? mount->is_cgroup_v1_memory()
                                                        : mount->is_cgroup_v2()))
      continue;
    const std::string root = unescape_mount(mount->root);
    const auto subpath = locate_below_mount(root, membership.path);
    if (!subpath || (best && root.size() >= best_root_length)) continue;
    auto candidate = make_group(unescape_mount(mount->point), *subpath);
    if (!candidate) continue;
    best = std::move(candidate);
    best_root_length = root.size();
  }
  return best;
}

std::optional<Group> find_group(const std::string& proc_root, const std::string& cgroup_root,
                                const CgroupMembership& membership) {
  if (cgroup_root.empty()) return find_in_mounts(proc_root, membership);
  const auto subpath = locate_below_mount("/", membership.path);
  if (!subpath) return std::nullopt;
  const char* const hierarchy_folder = membership.version == Version::v1 ? "/memory" : "/unified";
  auto group = make_group(cgroup_root + hierarchy_folder, *subpath);
  return group ? std::move(group) : make_group(cgroup_root, *subpath);
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
  const std::unique_lock lock(mutex_, std::try_to_lock);
  // After a fork during another thread's reading the lock is never released. A recording needs to
  // see all files.
  if (!lock.owns_lock() || platform::SystemOverride::active() != nullptr) {
    return GroupLimits(proc_root_, cgroup_root_).find_limit();
  }
  return find_limit();
}

MemoryLimit GroupLimits::find_limit() {
  std::array<char, 16384> buffer;
  const auto result = membership_.read(buffer);
  const bool is_missing = !result && result.error == ENOENT;
  std::string_view text(buffer.data(), result ? result.value : 0);
  if (is_missing || (result && text.empty())) return {{}, {}, {}, !has_no_groups()};
  const bool is_cut = text.size() == buffer.size();
  if (is_cut) text = text.substr(0, text.rfind('\n') + 1);
  if (cached_membership_.empty() || text != cached_membership_ ||
      (cgroup_root_.empty() && mounts_.has_changed())) {
    cached_membership_.clear();
    levels_.clear();
    const CgroupMembership membership = parse_cgroup_membership(text);
    const bool is_malformed = membership.is_malformed || is_cut || !result;
    if (membership.version == Version::none) return {{}, {}, {}, is_malformed};
    if (!open_levels(membership)) return {{}, {}, {}, true};
    is_malformed_ = is_malformed;
    cached_membership_ = text;
  }
  return read_levels();
}

// For a kernel that lists no group, or has no list: it has no control groups, or none is mounted.
// Where one is mounted, the caller is in a group.
bool GroupLimits::has_no_groups() const {
  if (!cgroup_root_.empty()) {
    bool is_empty = true;
    (void)platform::for_each_entry(cgroup_root_.c_str(),
                                   [&](std::string_view) { return is_empty = false; });
    return is_empty;
  }
  std::string text;
  const ProcPath path(proc_root_, "self", "mountinfo");
  if (const auto result = platform::read_whole(path.c_str(), text, mounts_cap); !result)
    return false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto mount = parse_mount(scan::take_line(rest));
    if (mount && (mount->type == "cgroup" || mount->is_cgroup_v2())) return false;
  }
  return true;
}

bool GroupLimits::open_levels(const procfs::CgroupMembership& membership) {
  std::array<char, 1> buffer;
  // Opened before the groups are read, so that no change is missed.
  if (cgroup_root_.empty()) static_cast<void>(mounts_.read(buffer));
  auto group = find_group(proc_root_, cgroup_root_, membership);
  if (!group) return false;
  hierarchy_ = membership.version;
  const bool is_v1 = membership.version == Version::v1;
  do {
    reaches_root_ = is_topmost(*group, is_v1);
    if (reaches_root_) break;
    levels_.emplace_back(group->folder, is_v1);
  } while (group->climb() && charges_children(*group, is_v1));
  return true;
}

MemoryLimit GroupLimits::read_levels() {
  std::array<char, 256> buffer;
  MemoryLimit result;
  result.is_partial = is_malformed_;
  for (Level& level : levels_) {
    int error = 0;
    const CgroupLimit limit = parse_cgroup_limit(read_text(level.limit, buffer, error));
    // v2: there is no limit in the root, nor in a group whose parent did not enable the controller.
    if (error == ENOENT && hierarchy_ == Version::v2) continue;
    if (error != 0 || limit.state == LimitState::malformed) result.is_partial = true;
    if (limit.state != LimitState::limited) continue;
    const GroupUsage usage = read_usage(level, result);
    update_left(result.left, limit.bytes, usage.unreclaimable);
    // Among equal limits, the outermost group's counts; it comes last.
    if (result.bytes && limit.bytes > *result.bytes) continue;
    result.bytes = limit.bytes;
    result.used = usage.charged;
  }
  if (!reaches_root_ && hierarchy_ == Version::v1) read_limit_above(result);
  return result;
}

// A group that is not mounted here may have the lowest limit. Its use is unknown, but at least that
// of the groups below it.
void GroupLimits::read_limit_above(MemoryLimit& result) {
  std::array<char, file_cap> buffer;
  int error = 0;
  const auto limit =
      parse_cgroup_hierarchical_limit(read_text(levels_.front().stat, buffer, error));
  if (error != ENOENT && limit.state == LimitState::malformed) result.is_partial = true;
  if (limit.state != LimitState::limited || (result.bytes && limit.bytes >= *result.bytes)) return;
  result.bytes = limit.bytes;
  result.used.reset();
  update_left(result.left, limit.bytes, read_usage(levels_.back(), result).unreclaimable);
}

// Without memory.stat, everything charged counts as unreclaimable.
GroupLimits::GroupUsage GroupLimits::read_usage(Level& level, MemoryLimit& result) const {
  std::array<char, file_cap> buffer;
  int error = 0;
  GroupUsage usage{parse_cgroup_usage(read_text(level.usage, buffer, error))};
  if (error == 0 && usage.charged) {
    const std::uint64_t cache =
        parse_cgroup_reclaimable_cache(read_text(level.stat, buffer, error), hierarchy_);
    usage.unreclaimable = *usage.charged - std::min(*usage.charged, cache);
  }
  if (error != ENOENT && (error != 0 || !usage.charged)) result.is_partial = true;
  return usage;
}

void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& folders) {
  std::string text;
  const ProcPath path(proc_root, "self", "cgroup");
  if (const auto result = platform::read_whole(path.c_str(), text, membership_cap); !result) return;
  const CgroupMembership membership = parse_v2_membership(text);
  if (membership.version == Version::none) return;
  auto group = find_group(proc_root, cgroup_root, membership);
  if (!group) return;
  do {
    folders.push_back(group->folder);
  } while (group->climb());
}

}  // namespace hmn::os
