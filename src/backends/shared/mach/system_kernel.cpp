// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/mach/kernel.hpp"

// Declared as in Apple's headers.
extern "C" {
extern hmn::mach::Port mach_task_self_;
int task_info(unsigned int, unsigned int, int*, unsigned int*);
unsigned int mach_host_self(void);
int host_statistics64(unsigned int, int, int*, unsigned int*);
int host_page_size(unsigned int, unsigned long*);
int mach_port_deallocate(unsigned int, unsigned int);
int sysctl(int*, unsigned int, void*, size_t*, void*, size_t);
int sysctlbyname(const char*, void*, size_t*, void*, size_t);
int proc_pid_rusage(int, int, void**);
int proc_pidinfo(int, int, uint64_t, void*, int);
int proc_pidpath(int, void*, uint32_t);
int proc_listpids(uint32_t, uint32_t, void*, int);
int ledger(int, void*, void*, void*);
}

namespace hmn::mach {
namespace {

Port task_self() {
  return mach_task_self_;
}

}  // namespace

const Kernel& system_kernel() noexcept {
  static constexpr Kernel calls{
      .task_self = task_self,
      .task_info = ::task_info,
      .host_self = mach_host_self,
      .host_statistics = host_statistics64,
      .host_page_size = ::host_page_size,
      .deallocate = mach_port_deallocate,
      .sysctl = ::sysctl,
      .sysctl_by_name = sysctlbyname,
      .pid_rusage = proc_pid_rusage,
      .pid_info = proc_pidinfo,
      .pid_path = proc_pidpath,
      .list_pids = proc_listpids,
      .ledger = ::ledger,
  };
  return calls;
}

}  // namespace hmn::mach
