// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/environment.hpp"

namespace hmn::cli {
namespace {

std::string read_root(const char* name, std::string fallback) {
  const auto value = get_environment(name);
  return value && value->starts_with('/') ? *value : fallback;
}

}  // namespace

Roots read_roots() {
  Roots roots;
  roots.proc = read_root("HMN_PROC", roots.proc);
  roots.sys = read_root("HMN_SYS", roots.sys);
  roots.dev = read_root("HMN_DEV", roots.dev);
  roots.cgroup = read_root("HMN_CGROUP", roots.cgroup);
  return roots;
}

}  // namespace hmn::cli
