// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/system_memory.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include "backends/os/linux/process_memory.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/meminfo.hpp"
#include "procfs/mountinfo.hpp"
#include "procfs/path.hpp"

namespace hmn::os {
namespace {

using procfs::amount;
using procfs::below_mount;
using procfs::cgroup_limit;
using procfs::cgroup_membership;
using procfs::meminfo;
using procfs::parse_cgroup_hierarchical_limit;
using procfs::parse_cgroup_limit;
using procfs::parse_cgroup_membership;
using procfs::parse_cgroup_usage;
using procfs::parse_meminfo;
using procfs::parse_mount;
using procfs::parse_stall;
using procfs::parse_v2_membership;
using procfs::proc_path;
using procfs::unescape_mount;

using version = cgroup_membership::version;
using limit_is = cgroup_limit::is;

constexpr std::size_t membership_cap = 1U << 20;
constexpr std::size_t mounts_cap = 16U << 20;

// Folder of a group: `below` is shortened to climb towards the mount.
struct group {
  std::string mount;
  std::string below;

  [[nodiscard]] std::string file(std::string_view name) const {
    return mount + below + "/" + std::string(name);
  }
  bool climb() {
    if (below.empty()) return false;
    below.resize(below.rfind('/'));
    return true;
  }
};

struct file_text {
  std::string text;
  int error = 0;
};

file_text read_file(const std::string& path) {
  std::array<char, 16384> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return {{}, got.error};
  return {{buffer.data(), got.value}, 0};
}

class walk {
 public:
  explicit walk(version v) noexcept : is_v1_(v == version::v1) {}

  memory_limit up_from(group at) {
    if (is_v1_) hidden_ = parse_hierarchical(at);
    look(at);
    while (at.climb() && charges_children(at)) look(at);
    return finish();
  }

 private:
  void look(const group& at) {
    const file_text f = read_file(at.file(is_v1_ ? "memory.limit_in_bytes" : "memory.max"));
    // Limits are missing in the root, and in a group whose parent did not enable the controller.
    if (f.error == ENOENT) return;
    const cgroup_limit limit = parse_cgroup_limit(f.text);
    if (f.error != 0 || limit.what == limit_is::malformed) {
      found_.is_partial = true;
    } else if (limit.what == limit_is::known && (!found_.bytes || limit.bytes <= *found_.bytes)) {
      // Of equal limits the outer group's comes first.
      found_.bytes = limit.bytes;
      owner_ = at;
    }
  }

  // v1 before 5.11: a group without use_hierarchy does not count usage of its children.
  bool charges_children(const group& at) const {
    return !is_v1_ || scan::trim(first_line(at.file("memory.use_hierarchy"))) != "0";
  }

  static std::string first_line(const std::string& path) {
    const file_text f = read_file(path);
    std::string_view rest = f.text;
    return std::string(scan::take_line(rest));
  }

  static cgroup_limit parse_hierarchical(const group& at) {
    return parse_cgroup_hierarchical_limit(read_file(at.file("memory.stat")).text);
  }

  memory_limit finish() {
    if (hidden_.what == limit_is::known && (!found_.bytes || hidden_.bytes < *found_.bytes)) {
      found_.bytes = hidden_.bytes;  // of a group that is not mounted here: its usage is unknown
      return found_;
    }
    if (!found_.bytes) return found_;
    const char* const name = is_v1_ ? "memory.usage_in_bytes" : "memory.current";
    found_.used = parse_cgroup_usage(read_file(owner_.file(name)).text);
    return found_;
  }

  bool is_v1_;
  group owner_;
  cgroup_limit hidden_;
  memory_limit found_;
};

// Of several mounts the one with the topmost root shows the most groups.
std::optional<group> find_by_mounts(const std::string& proc_root, const cgroup_membership& own) {
  std::string text;
  const proc_path path(proc_root, "self", "mountinfo");
  if (const auto cut = platform::read_whole(path.c_str(), text, mounts_cap); !cut) return {};
  std::optional<group> best;
  std::size_t best_root = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto m = parse_mount(scan::take_line(rest));
    if (!m || !(own.hierarchy == version::v1 ? m->is_cgroup_v1_memory() : m->is_cgroup_v2()))
      continue;
    const std::string root = unescape_mount(m->root);
    const auto below = below_mount(root, own.path);
    if (!below || (best && root.size() >= best_root)) continue;
    group candidate{unescape_mount(m->point), std::string(*below)};
    if (!platform::exists((candidate.mount + candidate.below).c_str())) continue;
    best = std::move(candidate);
    best_root = root.size();
  }
  return best;
}

std::optional<group> find_below(const std::string& cgroup_root, const cgroup_membership& own) {
  const auto below = below_mount("/", own.path);
  if (!below) return std::nullopt;
  const char* const hierarchy = own.hierarchy == version::v1 ? "/memory" : "/unified";
  for (const std::string& mount : {cgroup_root + hierarchy, cgroup_root}) {
    group candidate{mount, std::string(*below)};
    if (platform::exists((mount + candidate.below).c_str())) return candidate;
  }
  return std::nullopt;
}

// Sum of the zones' low watermarks: a quarter above the minimum (mm/page_alloc.c).
std::uint64_t low_watermark(const std::string& proc_root) {
  std::array<char, 32> buffer;
  const proc_path path(proc_root, "", "sys/vm/min_free_kbytes");
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  const std::uint64_t kilobytes = scan::number(scan::take_line(text)).value_or(0);
  const std::uint64_t bytes = scan::product(kilobytes, 1024).value_or(0);
  return bytes + bytes / 4;
}

void take(const meminfo& m, const std::string& proc_root, system_memory& out) {
  out.total = m.total.value();
  out.available = m.available.value();
  out.swap_total = m.swap_total.value();
  out.swap_free = m.swap_free.value();
  out.commit_limit = m.commit_limit.value();
  out.committed = m.committed.value();
  if (m.available.what != amount::is::missing) return;
  out.available = m.estimate_available(low_watermark(proc_root));
  if (out.available) out.notes |= note::estimated;
}

// Kernels without pressure stall information lack the file, or refuse to open it (psi=0).
void read_stall(const std::string& proc_root, system_memory& out) {
  const proc_path path(proc_root, "", "pressure/memory");
  std::array<char, 256> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got && (got.error == ENOENT || got.error == EOPNOTSUPP)) return;
  if (got) out.stall_percent = parse_stall({buffer.data(), got.value});
  if (!out.stall_percent) out.notes |= note::partial;
}

}  // namespace

memory_limit find_memory_limit(const std::string& proc_root, const std::string& cgroup_root) {
  std::string text;
  const proc_path path(proc_root, "self", "cgroup");
  const auto cut = platform::read_whole(path.c_str(), text, membership_cap);
  if (!cut && cut.error == ENOENT) return {};  // a kernel without control groups
  const cgroup_membership own = parse_cgroup_membership(text);
  if (own.hierarchy == version::none) return {std::nullopt, std::nullopt, !cut};
  const auto place =
      cgroup_root.empty() ? find_by_mounts(proc_root, own) : find_below(cgroup_root, own);
  if (!place) return {std::nullopt, std::nullopt, true};
  return walk(own.hierarchy).up_from(*place);
}

void find_own_groups(const std::string& proc_root, const std::string& cgroup_root,
                     std::vector<std::string>& out) {
  std::string text;
  const proc_path path(proc_root, "self", "cgroup");
  if (const auto cut = platform::read_whole(path.c_str(), text, membership_cap); !cut) return;
  const cgroup_membership own = parse_v2_membership(text);
  if (own.hierarchy == version::none) return;
  auto place = cgroup_root.empty() ? find_by_mounts(proc_root, own) : find_below(cgroup_root, own);
  if (!place) return;
  do {
    out.push_back(place->mount + place->below);
  } while (place->climb());
}

result<void> read_system_memory(const std::string& proc_root, const std::string& cgroup_root,
                                system_memory& out) {
  const proc_path path(proc_root, "", "meminfo");
  std::array<char, 16384> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return unreadable(got.error, path);
  out = system_memory();
  out.from = source::os;
  take(parse_meminfo({buffer.data(), got.value}), proc_root, out);
  if (!out.total && !out.available) return nonsense(path, "it has no MemTotal in kB");
  read_stall(proc_root, out);

  const memory_limit limit = find_memory_limit(proc_root, cgroup_root);
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  if (limit.is_partial || !out.total || !out.available) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
