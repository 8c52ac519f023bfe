// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/system_memory.hpp"

#include <psapi.h>
#include <windows.h>

#include "backends/os/windows/process_memory.hpp"
#include "model/scan.hpp"
#include "platform/windows/system.hpp"

namespace hmn::os {
namespace {

// JOBOBJECT_MEMORY_USAGE_INFORMATION, missing in older headers (Windows 10).
struct JobMemoryUsage {
  ULONG64 now;
  ULONG64 peak;
};
constexpr auto job_memory_usage_class = static_cast<JOBOBJECTINFOCLASS>(28);

template <class T>
bool ask_own_job(JOBOBJECTINFOCLASS what, T& out) noexcept {
  return QueryInformationJobObject(nullptr, what, &out, sizeof out, nullptr) != 0;
}

std::optional<std::uint64_t> used_by_job() noexcept {
  JobMemoryUsage usage{};
  if (!ask_own_job(job_memory_usage_class, usage) || usage.now == 0) return std::nullopt;
  return usage.now;
}

std::optional<std::uint64_t> used_by_process() noexcept {
  ProcessCounters c;
  return read_counters(GetCurrentProcess(), c) ? c.private_usage : std::nullopt;
}

struct PageFiles {
  std::uint64_t total = 0;  // pages
  std::uint64_t free = 0;
};

extern "C" {
static BOOL CALLBACK add_page_file(void* given, ENUM_PAGE_FILE_INFORMATION* one, const wchar_t*) {
  auto& all = *static_cast<PageFiles*>(given);
  all.total += one->TotalSize;
  all.free += one->TotalSize - one->TotalInUse;
  return TRUE;
}
}

void read_commitment(SystemMemory& out) noexcept {
  PERFORMANCE_INFORMATION p{};
  if (!K32GetPerformanceInfo(&p, sizeof p) || p.CommitLimit == 0) {
    out.notes |= note::partial;
    return;
  }
  out.committed = scan::product(p.CommitTotal, p.PageSize);
  out.commit_limit = scan::product(p.CommitLimit, p.PageSize);
}

void read_page_files(SystemMemory& out) noexcept {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  PageFiles all;
  if (!K32EnumPageFilesW(add_page_file, &all)) {
    out.notes |= note::partial;
    return;
  }
  out.swap_total = scan::product(all.total, system.dwPageSize);
  out.swap_free = scan::product(all.free, system.dwPageSize);
}

// All processes share one notification object of each kind: a new handle to it allocates nothing.
std::optional<MemoryPressure> read_pressure() noexcept {
  const platform::Handle low(CreateMemoryResourceNotification(LowMemoryResourceNotification));
  BOOL is_low = FALSE;
  if (!low || !QueryMemoryResourceNotification(low.get(), &is_low)) return std::nullopt;
  return is_low ? MemoryPressure::warning : MemoryPressure::normal;
}

}  // namespace

JobLimit read_job_limit() noexcept {
  BOOL is_in_one = FALSE;
  if (!IsProcessInJob(GetCurrentProcess(), nullptr, &is_in_one))
    return {std::nullopt, std::nullopt, true};
  if (!is_in_one) return {};
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (!ask_own_job(JobObjectExtendedLimitInformation, limits))
    return {std::nullopt, std::nullopt, true};
  const DWORD set = limits.BasicLimitInformation.LimitFlags;
  const bool of_job = (set & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0;
  const bool of_process = (set & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0;
  // Of equal limits the job's counts, which is fuller.
  if (of_job && (!of_process || limits.JobMemoryLimit <= limits.ProcessMemoryLimit))
    return {limits.JobMemoryLimit, used_by_job(), false};
  if (of_process) return {limits.ProcessMemoryLimit, used_by_process(), false};
  return {};
}

Result<void> read_system_memory(SystemMemory& out) {
  MEMORYSTATUSEX m{};
  m.dwLength = sizeof m;
  if (!GlobalMemoryStatusEx(&m)) {
    const DWORD error = GetLastError();
    return Failure{Status::backend,
                   Source::os,
                   {NativeDomain::win32, static_cast<std::int32_t>(error)},
                   {"GlobalMemoryStatusEx fails with error ", std::uint64_t{error}}};
  }
  out = SystemMemory();
  out.from = Source::os;
  out.total = m.ullTotalPhys;
  out.available = m.ullAvailPhys;
  read_commitment(out);
  read_page_files(out);
  out.pressure = read_pressure();
  const JobLimit limit = read_job_limit();
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  if (limit.is_partial || !out.pressure) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
