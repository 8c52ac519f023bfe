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
bool query_own_job(JOBOBJECTINFOCLASS information_class, T& information) noexcept {
  return QueryInformationJobObject(nullptr, information_class, &information, sizeof information,
                                   nullptr) != 0;
}

std::optional<std::uint64_t> read_job_usage() noexcept {
  JobMemoryUsage usage{};
  if (!query_own_job(job_memory_usage_class, usage) || usage.now == 0) return std::nullopt;
  return usage.now;
}

std::optional<std::uint64_t> read_process_usage() noexcept {
  ProcessCounters counters;
  return read_counters(GetCurrentProcess(), counters) ? counters.private_usage : std::nullopt;
}

struct PageFiles {
  std::uint64_t total = 0;  // pages
  std::uint64_t free = 0;
};

extern "C" {
static BOOL CALLBACK add_page_file(void* context, ENUM_PAGE_FILE_INFORMATION* file,
                                   const wchar_t*) {
  auto& page_files = *static_cast<PageFiles*>(context);
  page_files.total += file->TotalSize;
  page_files.free += file->TotalSize - file->TotalInUse;
  return TRUE;
}
}

void read_commit_charge(SystemMemory& memory) noexcept {
  PERFORMANCE_INFORMATION performance{};
  if (!K32GetPerformanceInfo(&performance, sizeof performance) || performance.CommitLimit == 0) {
    memory.notes |= note::partial;
    return;
  }
  memory.committed = scan::checked_multiply(performance.CommitTotal, performance.PageSize);
  memory.commit_limit = scan::checked_multiply(performance.CommitLimit, performance.PageSize);
}

void read_page_files(SystemMemory& memory) noexcept {
  SYSTEM_INFO system_info;
  GetSystemInfo(&system_info);
  PageFiles page_files;
  if (!K32EnumPageFilesW(add_page_file, &page_files)) {
    memory.notes |= note::partial;
    return;
  }
  memory.swap_total = scan::checked_multiply(page_files.total, system_info.dwPageSize);
  memory.swap_free = scan::checked_multiply(page_files.free, system_info.dwPageSize);
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
  BOOL is_in_job = FALSE;
  if (!IsProcessInJob(GetCurrentProcess(), nullptr, &is_in_job))
    return {std::nullopt, std::nullopt, true};
  if (!is_in_job) return {};
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (!query_own_job(JobObjectExtendedLimitInformation, limits))
    return {std::nullopt, std::nullopt, true};
  const DWORD flags = limits.BasicLimitInformation.LimitFlags;
  const bool has_job_limit = (flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0;
  const bool has_process_limit = (flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0;
  // Among equal limits, the job's is the tighter one: more of it is in use.
  if (has_job_limit && (!has_process_limit || limits.JobMemoryLimit <= limits.ProcessMemoryLimit))
    return {limits.JobMemoryLimit, read_job_usage(), false};
  if (has_process_limit) return {limits.ProcessMemoryLimit, read_process_usage(), false};
  return {};
}

Result<void> read_system_memory(SystemMemory& memory) {
  MEMORYSTATUSEX memory_status{};
  memory_status.dwLength = sizeof memory_status;
  if (!GlobalMemoryStatusEx(&memory_status)) {
    const DWORD error = GetLastError();
    return Failure{Status::backend,
                   Source::os,
                   {NativeDomain::win32, static_cast<std::int32_t>(error)},
                   {"GlobalMemoryStatusEx fails with error ", std::uint64_t{error}}};
  }
  memory = SystemMemory();
  memory.source = Source::os;
  memory.total = memory_status.ullTotalPhys;
  memory.available = memory_status.ullAvailPhys;
  read_commit_charge(memory);
  read_page_files(memory);
  memory.pressure = read_pressure();
  const JobLimit limit = read_job_limit();
  memory.limit = limit.bytes;
  memory.limit_used = limit.used;
  if (limit.is_partial || !memory.pressure) memory.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
