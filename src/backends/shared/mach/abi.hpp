// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The part of XNU's interface that is used here, declared by hand, so that it compiles without
// Apple's headers. A check in the macOS build compares each declaration with Apple's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::mach {

using KernReturn = int;     // kern_return_t
using Port = unsigned int;  // mach_port_t

inline constexpr KernReturn success = 0;            // KERN_SUCCESS
inline constexpr unsigned vm_info_flavor = 22;      // TASK_VM_INFO
inline constexpr int vm_statistics_flavor = 4;      // HOST_VM_INFO64
inline constexpr int rusage_flavor = 4;             // RUSAGE_INFO_V4
inline constexpr int task_info_flavor = 4;          // PROC_PIDTASKINFO
inline constexpr unsigned all_pids = 1;             // PROC_ALL_PIDS
inline constexpr int ctl_kern = 1;                  // CTL_KERN
inline constexpr int kern_process = 14;             // KERN_PROC
inline constexpr int kern_process_by_pid = 1;       // KERN_PROC_PID
inline constexpr int kern_arguments = 49;           // KERN_PROCARGS2
inline constexpr int zombie = 5;                    // SZOMB
inline constexpr unsigned forked_only = 1;          // AFORK: no exec since the fork
inline constexpr int ledger_entry_info = 1;         // LEDGER_ENTRY_INFO
inline constexpr int ledger_template_info = 2;      // LEDGER_TEMPLATE_INFO
inline constexpr std::size_t max_path_size = 4096;  // PROC_PIDPATHINFO_MAXSIZE

// First fields of task_vm_info, unchanged since OS X 10.9.
struct VmInfo {
  std::uint64_t virtual_size;
  std::int32_t region_count;
  std::int32_t page_size;
  std::uint64_t resident_size;
  std::uint64_t resident_size_peak;
  std::uint64_t device;
  std::uint64_t device_peak;
  std::uint64_t internal;
  std::uint64_t internal_peak;
  std::uint64_t external;
  std::uint64_t external_peak;
  std::uint64_t reusable;
  std::uint64_t reusable_peak;
  std::uint64_t purgeable_volatile_pmap;
  std::uint64_t purgeable_volatile_resident;
  std::uint64_t purgeable_volatile_virtual;
  std::uint64_t compressed;
  std::uint64_t compressed_peak;
  std::uint64_t compressed_lifetime;
  std::uint64_t phys_footprint;
};
inline constexpr unsigned vm_info_count = sizeof(VmInfo) / sizeof(unsigned);
static_assert(offsetof(VmInfo, phys_footprint) == 144 && vm_info_count == 38);

struct VmStatistics {        // vm_statistics64
  std::uint32_t free_count;  // includes speculative pages
  std::uint32_t active_count;
  std::uint32_t inactive_count;
  std::uint32_t wire_count;
  std::uint64_t zero_fill_count;
  std::uint64_t reactivations;
  std::uint64_t pageins;
  std::uint64_t pageouts;
  std::uint64_t faults;
  std::uint64_t cow_faults;
  std::uint64_t lookups;
  std::uint64_t hits;
  std::uint64_t purges;
  std::uint32_t purgeable_count;
  std::uint32_t speculative_count;
  std::uint64_t decompressions;
  std::uint64_t compressions;
  std::uint64_t swapins;
  std::uint64_t swapouts;
  std::uint32_t compressor_page_count;
  std::uint32_t throttled_count;
  std::uint32_t external_page_count;
  std::uint32_t internal_page_count;
  std::uint64_t total_uncompressed_pages_in_compressor;
};
inline constexpr unsigned vm_statistics_count = sizeof(VmStatistics) / sizeof(unsigned);
static_assert(vm_statistics_count == 38);

struct SwapUsage {  // xsw_usage
  std::uint64_t total;
  std::uint64_t available;
  std::uint64_t used;
  std::uint32_t page_size;
  std::uint32_t is_encrypted;
};
static_assert(sizeof(SwapUsage) == 32);

struct Rusage {  // rusage_info_v4
  std::uint8_t uuid[16];
  std::uint64_t times[4];  // user, system, idle wakeups, interrupt wakeups
  std::uint64_t pageins;
  std::uint64_t wired_size;
  std::uint64_t resident_size;
  std::uint64_t phys_footprint;
  std::uint64_t start_time;  // mach_absolute_time
  std::uint64_t exit_time;   // 0 while running
  std::uint64_t others0[18];
  std::uint64_t lifetime_max_phys_footprint;
  std::uint64_t others1[6];
};
static_assert(offsetof(Rusage, phys_footprint) == 72 && sizeof(Rusage) == 296);
static_assert(offsetof(Rusage, lifetime_max_phys_footprint) == 240);

struct ProcessTask {  // proc_taskinfo
  std::uint64_t virtual_size;
  std::uint64_t resident_size;
  std::uint64_t times[4];
  std::int32_t counts[12];
};
static_assert(sizeof(ProcessTask) == 96);

// kinfo_proc of 64-bit programs. Readable by any user for every process.
struct ProcessRecord {
  std::int64_t start_seconds;
  std::int32_t start_microseconds;
  std::uint8_t hidden0[20];
  std::int32_t flags;
  char state;
  std::uint8_t hidden1[3];
  std::int32_t pid;
  std::uint8_t hidden2[199];
  char name[17];  // p_comm
  std::uint8_t hidden3[22];
  std::uint16_t accounting_flags;  // p_acflag
  std::uint8_t hidden4[136];
  std::uint32_t user;  // effective user
  std::uint8_t hidden5[224];
};
static_assert(offsetof(ProcessRecord, flags) == 32 && offsetof(ProcessRecord, pid) == 40);
static_assert(offsetof(ProcessRecord, name) == 243);
static_assert(offsetof(ProcessRecord, accounting_flags) == 282);
static_assert(offsetof(ProcessRecord, user) == 420 && sizeof(ProcessRecord) == 648);

// osfmk/kern/ledger.h, not installed by Apple: unchanged since OS X 10.8.
struct LedgerEntry {  // ledger_entry_info
  std::int64_t balance;
  std::int64_t credit;
  std::int64_t debit;
  std::uint64_t limit;
  std::uint64_t refill_period;
  std::uint64_t last_refill;
};
static_assert(sizeof(LedgerEntry) == 48);

struct LedgerKind {  // ledger_template_info
  char name[32];
  char group[32];
  char units[32];
};
static_assert(sizeof(LedgerKind) == 96);

}  // namespace hmn::mach
