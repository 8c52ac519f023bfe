// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/job_limit.hpp"

#include <windows.h>

#include "backends/os/windows/process_counters.hpp"

namespace hmn::os {
namespace {

// JOBOBJECT_MEMORY_USAGE_INFORMATION, missing in older headers (Windows 10).
struct job_memory_usage {
  ULONG64 now;
  ULONG64 peak;
};
constexpr auto job_memory_usage_class = static_cast<JOBOBJECTINFOCLASS>(28);

template <class T>
bool ask_own_job(JOBOBJECTINFOCLASS what, T& out) noexcept {
  return QueryInformationJobObject(nullptr, what, &out, sizeof out, nullptr) != 0;
}

std::optional<std::uint64_t> used_by_job() noexcept {
  job_memory_usage usage{};
  if (!ask_own_job(job_memory_usage_class, usage) || usage.now == 0) return std::nullopt;
  return usage.now;
}

std::optional<std::uint64_t> used_by_process() noexcept {
  process_counters c;
  return read_counters(GetCurrentProcess(), c) ? c.private_usage : std::nullopt;
}

}  // namespace

job_limit read_job_limit() noexcept {
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
  // Of equal limits that of the job, which is fuller.
  if (of_job && (!of_process || limits.JobMemoryLimit <= limits.ProcessMemoryLimit))
    return {limits.JobMemoryLimit, used_by_job(), false};
  if (of_process) return {limits.ProcessMemoryLimit, used_by_process(), false};
  return {};
}

}  // namespace hmn::os
