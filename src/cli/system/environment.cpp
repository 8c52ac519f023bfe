// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/environment.hpp"

namespace hmn::cli {
namespace {

std::string root_or(const char* name, std::string usual) {
  const auto value = environment_value(name);
  return value && value->starts_with('/') ? *value : usual;
}

}  // namespace

Roots roots_from_environment() {
  Roots in;
  in.proc = root_or("HMN_PROC", in.proc);
  in.sys = root_or("HMN_SYS", in.sys);
  in.dev = root_or("HMN_DEV", in.dev);
  in.cgroup = root_or("HMN_CGROUP", in.cgroup);
  return in;
}

}  // namespace hmn::cli
