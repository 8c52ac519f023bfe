// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/linux/supervised_child.hpp"
#include "platform/posix/running.hpp"
#include "platform/posix/spawned_child.hpp"

namespace hmn::platform {

outcome run_child(const launch& what, channel& open, const command& given) {
  outcome result;
  if (!attempt<supervised_child>(what, open, given, result)) {
    attempt<spawned_child>(what, open, given, result);
  }
  return result;
}

void collect_children() noexcept {
  supervised_child::collect();
  spawned_child::collect();
}

}  // namespace hmn::platform
