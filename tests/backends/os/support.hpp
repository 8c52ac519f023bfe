// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/os/os.hpp"
#include "fake_tree.hpp"

// A host source on a fake tree.
inline std::unique_ptr<hmn::HostSource> host_on(const hmn_fake::Tree& tree) {
  hmn::Settings s;
  s.proc_root = tree.proc();
  s.sys_root = tree.sys();
  return hmn::make_os(s);
}

inline std::unique_ptr<hmn::HostSource> host_here() {
  return hmn::make_os(hmn::Settings());
}

inline bool mentions(const hmn::Failure& why, const char* words) {
  return why.message.view().find(words) != std::string::npos;
}
