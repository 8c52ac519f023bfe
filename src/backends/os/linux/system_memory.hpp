// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "backends/os/linux/group_limits.hpp"
#include "model/failure.hpp"
#include "model/host_memory.hpp"
#include "platform/file.hpp"

namespace hmn::os {

class system_reader {
 public:
  system_reader(const std::string& proc_root, const std::string& cgroup_root);
  result<void> read(system_memory& out);

 private:
  void read_stall(system_memory& out);

  const std::string proc_root_;
  platform::kept_file meminfo_;
  platform::kept_file stall_;
  group_limits limits_;
};

}  // namespace hmn::os
