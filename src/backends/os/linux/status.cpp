// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/status.hpp"

namespace hmn::os {

status_memory parse_status(std::string_view text) noexcept {
  status_memory m;
  const wanted_amount wanted[] = {
      {"VmRSS", &m.vm_rss}, {"VmHWM", &m.vm_hwm}, {"VmSize", &m.vm_size}, {"VmSwap", &m.vm_swap}};
  parse_amounts(text, wanted);
  return m;
}

}  // namespace hmn::os
