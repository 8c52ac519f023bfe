// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/dmem/dmem.hpp"
#include "backends/os/os.hpp"
#include "fake_tree.hpp"

namespace dmem_test {

// Creates the source of a fake tree.
inline std::unique_ptr<hmn::HostSource> make_host(const hmn_fake::Tree& tree) {
  hmn::Settings settings;
  settings.proc_root = tree.proc();
  settings.sys_root = tree.sys();
  settings.cgroup_root = tree.path("sys/fs/cgroup");
  return hmn::make_dmem(hmn::make_os(settings));
}

}  // namespace dmem_test
