// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A kernel of macOS that answers as it is set up. Where it refuses, and with what, is taken from
// XNU's sources (bsd/kern/proc_info.c, kern_sysctl.c, sys_generic.c).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/shared/mach/kernel.hpp"

namespace hmn_fake {

struct MacProcess {
  std::uint32_t user = 501;
  bool is_zombie = false;
  bool keeps_account = true;  // of itself, as a zombie
  bool is_forked_only = false;
  std::string path = "/usr/bin/true";
  std::vector<std::string> arguments = {"true"};
  std::int64_t start_seconds = 1'700'000'000;
  std::int32_t start_microseconds = 250'000;
  std::uint64_t resident = 0;
  std::uint64_t footprint = 0;
  std::uint64_t peak_footprint = 0;
  std::uint64_t virtual_size = 0;
  std::map<std::string, std::int64_t> ledger;  // what is not in it has 0
};

// One at a time; its calls are those of `calls()`.
class Mac {
 public:
  Mac();
  ~Mac();
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;

  static const hmn::mach::Kernel& calls();

  std::uint32_t caller = 501;  // 0: root
  std::map<int, MacProcess> processes;
  int own_pid;                                // of the real process; it is in `processes`
  std::map<std::string, std::string> values;  // of sysctlbyname, as bytes
  std::vector<std::string> ledger_names = {"cpu_time", "phys_footprint", "graphics_nofootprint",
                                           "graphics_footprint", "neural_footprint"};
  hmn::mach::VmStatistics statistics{};
  unsigned long page_size = 16384;
  std::uint64_t peak_resident = 0;
  int task_info_code = 0;
  unsigned task_info_most = 93;  // how many words this macOS has
  int host_statistics_code = 0;
  int ledger_error = 0;           // of every ledger
  std::set<int> gone_when_asked;  // listed, but no longer there
  std::set<int> end_once_looked_at;
  int host_rights = 0;      // got and not given back
  int pid_list_growth = 0;  // processes that appear between two lists

  void set(const std::string& name, std::uint64_t value);
  void set(const std::string& name, std::uint32_t value);
  void set(const std::string& name, const char* value);
  MacProcess& own() { return processes[own_pid]; }
};

}  // namespace hmn_fake
