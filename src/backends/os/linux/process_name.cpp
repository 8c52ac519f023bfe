// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_name.hpp"

namespace hmn::os {

std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept {
  if (comm.size() < longest_comm) return comm;
  std::string_view name = cmdline.substr(0, cmdline.find('\0'));
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  return name.starts_with(comm) ? name : comm;
}

}  // namespace hmn::os
