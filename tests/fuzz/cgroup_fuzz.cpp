// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/cgroup.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  using version = cgroup_membership::version;
  const cgroup_membership m = parse_cgroup_membership(input);
  promise(is_inside(m.path, input));
  promise((m.hierarchy == version::none) == m.path.empty());
  promise(m.path.empty() || m.path.front() == '/');
  promise(m.path.find('\n') == std::string_view::npos);
  const auto unified = parse_v2_membership(input);
  promise(is_inside(unified.path, input));
  promise(unified.path.empty() || unified.path.front() == '/');
  for (const cgroup_limit& limit :
       {parse_cgroup_limit(input), parse_cgroup_hierarchical_limit(input)}) {
    promise(limit.bytes < 0x7fff'ffff'ffff'0000);
    if (limit.what != cgroup_limit::is::known) continue;
    promise(parse_cgroup_limit(std::to_string(limit.bytes) + "\n").bytes == limit.bytes);
  }
  const auto usage = parse_cgroup_usage(input);
  if (usage) promise(parse_cgroup_usage(std::to_string(*usage) + "\n") == usage);
}
