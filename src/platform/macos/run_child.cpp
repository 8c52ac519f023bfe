// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/running.hpp"
#include "platform/posix/spawned_child.hpp"

namespace hmn::platform {

outcome run_child(const launch& what, channel& open, const command& given) {
  outcome result;
  attempt<spawned_child>(what, open, given, result);
  return result;
}

void collect_children() noexcept {
  spawned_child::collect();
}

}  // namespace hmn::platform
