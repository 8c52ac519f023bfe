// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>

#include "backends/os/os.hpp"
#include "fake_tree.hpp"

// A host source on a fake tree.
inline std::unique_ptr<hmn::HostSource> make_host(const hmn_fake::Tree& tree) {
  hmn::Settings settings;
  settings.proc_root = tree.proc();
  settings.sys_root = tree.sys();
  return hmn::make_os(settings);
}

inline std::unique_ptr<hmn::HostSource> make_real_host() {
  return hmn::make_os(hmn::Settings());
}

inline bool mentions(const hmn::Failure& failure, const char* words) {
  return failure.message.view().find(words) != std::string::npos;
}
