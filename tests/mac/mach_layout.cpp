// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What src/backends/shared/mach declares by hand, against Apple's own headers. Nothing is run: it
// compiles, or it does not. The ledgers and AFORK are missing here: Zig brings no header with them.
#include <libproc.h>
#include <mach/mach.h>
#include <sys/proc_info.h>
#include <sys/resource.h>
#include <sys/sysctl.h>

#include <cstddef>
#include <utility>

#include "backends/shared/mach/abi.hpp"
// Its declarations of functions meet Apple's, and a difference is an error.
#include "backends/shared/mach/system_kernel.cpp"

namespace {

namespace ours = hmn::mach;

#define SAME_PLACE(record, field, apples, name)                            \
  static_assert(offsetof(ours::record, field) == offsetof(apples, name) && \
                sizeof(ours::record::field) == sizeof(std::declval<apples>().name))

static_assert(ours::success == KERN_SUCCESS);
static_assert(ours::vm_info_flavor == TASK_VM_INFO);
static_assert(ours::vm_statistics_flavor == HOST_VM_INFO64);
static_assert(ours::rusage_flavor == RUSAGE_INFO_V4);
static_assert(ours::task_info_flavor == PROC_PIDTASKINFO);
static_assert(ours::all_pids == PROC_ALL_PIDS);
static_assert(ours::ctl_kern == CTL_KERN);
static_assert(ours::kern_process == KERN_PROC);
static_assert(ours::kern_process_by_pid == KERN_PROC_PID);
static_assert(ours::kern_arguments == KERN_PROCARGS2);
static_assert(ours::zombie == SZOMB);
static_assert(ours::max_path_size == PROC_PIDPATHINFO_MAXSIZE);
static_assert(sizeof(ours::Port) == sizeof(mach_port_t));
static_assert(sizeof(ours::KernReturn) == sizeof(kern_return_t));

using apples_vm_info = struct task_vm_info;
SAME_PLACE(VmInfo, virtual_size, apples_vm_info, virtual_size);
SAME_PLACE(VmInfo, region_count, apples_vm_info, region_count);
SAME_PLACE(VmInfo, page_size, apples_vm_info, page_size);
SAME_PLACE(VmInfo, resident_size, apples_vm_info, resident_size);
SAME_PLACE(VmInfo, resident_size_peak, apples_vm_info, resident_size_peak);
SAME_PLACE(VmInfo, compressed, apples_vm_info, compressed);
SAME_PLACE(VmInfo, phys_footprint, apples_vm_info, phys_footprint);
// The kernel fills what is asked for, from this revision's length on.
static_assert(sizeof(ours::VmInfo) <= sizeof(apples_vm_info));
static_assert(ours::vm_info_count >= TASK_VM_INFO_REV1_COUNT);

using apples_vm_statistics = struct vm_statistics64;
SAME_PLACE(VmStatistics, free_count, apples_vm_statistics, free_count);
SAME_PLACE(VmStatistics, active_count, apples_vm_statistics, active_count);
SAME_PLACE(VmStatistics, inactive_count, apples_vm_statistics, inactive_count);
SAME_PLACE(VmStatistics, wire_count, apples_vm_statistics, wire_count);
SAME_PLACE(VmStatistics, purgeable_count, apples_vm_statistics, purgeable_count);
SAME_PLACE(VmStatistics, speculative_count, apples_vm_statistics, speculative_count);
SAME_PLACE(VmStatistics, compressor_page_count, apples_vm_statistics, compressor_page_count);
SAME_PLACE(VmStatistics, external_page_count, apples_vm_statistics, external_page_count);
SAME_PLACE(VmStatistics, internal_page_count, apples_vm_statistics, internal_page_count);
SAME_PLACE(VmStatistics, total_uncompressed_pages_in_compressor, apples_vm_statistics,
           total_uncompressed_pages_in_compressor);
static_assert(ours::vm_statistics_count == HOST_VM_INFO64_REV1_COUNT);

using apples_swap_usage = struct xsw_usage;
SAME_PLACE(SwapUsage, total, apples_swap_usage, xsu_total);
SAME_PLACE(SwapUsage, available, apples_swap_usage, xsu_avail);
SAME_PLACE(SwapUsage, used, apples_swap_usage, xsu_used);
static_assert(sizeof(ours::SwapUsage) == sizeof(apples_swap_usage));

using apples_rusage = struct rusage_info_v4;
SAME_PLACE(Rusage, uuid, apples_rusage, ri_uuid);
SAME_PLACE(Rusage, pageins, apples_rusage, ri_pageins);
SAME_PLACE(Rusage, wired_size, apples_rusage, ri_wired_size);
SAME_PLACE(Rusage, resident_size, apples_rusage, ri_resident_size);
SAME_PLACE(Rusage, phys_footprint, apples_rusage, ri_phys_footprint);
SAME_PLACE(Rusage, exit_time, apples_rusage, ri_proc_exit_abstime);
SAME_PLACE(Rusage, lifetime_max_phys_footprint, apples_rusage, ri_lifetime_max_phys_footprint);
static_assert(sizeof(ours::Rusage) == sizeof(apples_rusage));

using apples_task = struct proc_taskinfo;
SAME_PLACE(ProcessTask, virtual_size, apples_task, pti_virtual_size);
SAME_PLACE(ProcessTask, resident_size, apples_task, pti_resident_size);
static_assert(sizeof(ours::ProcessTask) == sizeof(apples_task));

using apples_record = struct kinfo_proc;
SAME_PLACE(ProcessRecord, start_seconds, apples_record, kp_proc.p_un.__p_starttime.tv_sec);
SAME_PLACE(ProcessRecord, start_microseconds, apples_record, kp_proc.p_un.__p_starttime.tv_usec);
SAME_PLACE(ProcessRecord, flags, apples_record, kp_proc.p_flag);
SAME_PLACE(ProcessRecord, state, apples_record, kp_proc.p_stat);
SAME_PLACE(ProcessRecord, pid, apples_record, kp_proc.p_pid);
SAME_PLACE(ProcessRecord, name, apples_record, kp_proc.p_comm);
SAME_PLACE(ProcessRecord, accounting_flags, apples_record, kp_proc.p_acflag);
SAME_PLACE(ProcessRecord, user, apples_record, kp_eproc.e_ucred.cr_uid);
static_assert(sizeof(ours::ProcessRecord) == sizeof(apples_record));

}  // namespace
