// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A configurable kernel of macOS. Its refusals and their error codes are taken from
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

// One instance at a time; its calls are in `calls()`.
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
  unsigned max_task_info_words = 93;  // how many words this macOS has
  int host_statistics_code = 0;
  int ledger_error = 0;          // returned by every ledger call
  std::set<int> vanishing_pids;  // listed, but gone
  std::set<int> ending_pids;
  int host_rights = 0;      // obtained and not released
  int pid_list_growth = 0;  // processes that appear between two lists

  void set(const std::string& name, std::uint64_t value);
  void set(const std::string& name, std::uint32_t value);
  void set(const std::string& name, const char* value);
  MacProcess& own() { return processes[own_pid]; }
};

}  // namespace hmn_fake
