// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/dmem/dmem.hpp"
#include "backends/os/os.hpp"
#include "fake_tree.hpp"

namespace dmem_test {

// The source that a tree of files is the machine of.
inline std::unique_ptr<hmn::HostSource> host_of(const hmn_fake::Tree& tree) {
  hmn::Settings s;
  s.proc_root = tree.proc();
  s.sys_root = tree.sys();
  s.cgroup_root = tree.path("sys/fs/cgroup");
  return hmn::make_dmem(hmn::make_os(s));
}

}  // namespace dmem_test
