// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

namespace {

using Version = CgroupMembership::Version;

// Written, mapped or dirty cache is never free, and unrelated lines change nothing.
void check_free_cache(std::string_view input, Version version) {
  const std::uint64_t bytes = parse_cgroup_reclaimable_cache(input, version);
  if (bytes == 0) return;
  const std::string text(input.substr(0, input.rfind('\n') + 1));
  const std::uint64_t complete_bytes = parse_cgroup_reclaimable_cache(text, version);
  promise(parse_cgroup_reclaimable_cache(text + "shmem 9\nunevictable 9\nslab_reclaimable 9\n",
                                  version) == complete_bytes);
  const char* const dirty = version == Version::v1 ? "total_dirty " : "file_dirty ";
  promise(parse_cgroup_reclaimable_cache(text + dirty + "18446744073709551615\n", version) == 0);
}

}  // namespace

void fuzz(std::string_view input) {
  check_free_cache(input, Version::v1);
  check_free_cache(input, Version::v2);
  const CgroupMembership membership = parse_cgroup_membership(input);
  promise(is_inside(membership.path, input));
  promise((membership.version == Version::none) == membership.path.empty());
  promise(membership.path.empty() || membership.path.front() == '/');
  promise(membership.path.find('\n') == std::string_view::npos);
  const auto unified = parse_v2_membership(input);
  promise(is_inside(unified.path, input));
  promise(unified.path.empty() || unified.path.front() == '/');
  for (const CgroupLimit& limit :
       {parse_cgroup_limit(input), parse_cgroup_hierarchical_limit(input)}) {
    promise(limit.bytes < 0x7fff'ffff'ffff'0000);
    if (limit.state != CgroupLimit::State::limited) continue;
    promise(parse_cgroup_limit(std::to_string(limit.bytes) + "\n").bytes == limit.bytes);
  }
  const auto usage = parse_cgroup_usage(input);
  if (usage) promise(parse_cgroup_usage(std::to_string(*usage) + "\n") == usage);
}
