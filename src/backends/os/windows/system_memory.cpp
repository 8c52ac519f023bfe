// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/system_memory.hpp"

#include <windows.h>

#include <psapi.h>

#include "backends/os/windows/job_limit.hpp"
#include "model/scan.hpp"
#include "platform/windows/system.hpp"

namespace hmn::os {
namespace {

struct page_files {
  std::uint64_t total = 0;  // pages
  std::uint64_t free = 0;
};

extern "C" {
static BOOL CALLBACK add_page_file(void* given, ENUM_PAGE_FILE_INFORMATION* one, const wchar_t*) {
  auto& all = *static_cast<page_files*>(given);
  all.total += one->TotalSize;
  all.free += one->TotalSize - one->TotalInUse;
  return TRUE;
}
}

void read_commitment(system_memory& out) noexcept {
  PERFORMANCE_INFORMATION p{};
  if (!K32GetPerformanceInfo(&p, sizeof p) || p.CommitLimit == 0) {
    out.notes |= note::partial;
    return;
  }
  out.committed = scan::product(p.CommitTotal, p.PageSize);
  out.commit_limit = scan::product(p.CommitLimit, p.PageSize);
}

void read_page_files(system_memory& out) noexcept {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  page_files all;
  if (!K32EnumPageFilesW(add_page_file, &all)) {
    out.notes |= note::partial;
    return;
  }
  out.swap_total = scan::product(all.total, system.dwPageSize);
  out.swap_free = scan::product(all.free, system.dwPageSize);
}

// Windows shares one notification object of each kind: a new handle to it allocates nothing.
std::optional<memory_pressure> read_pressure() noexcept {
  const platform::handle low(CreateMemoryResourceNotification(LowMemoryResourceNotification));
  BOOL is_low = FALSE;
  if (!low || !QueryMemoryResourceNotification(low.get(), &is_low)) return std::nullopt;
  return is_low ? memory_pressure::warning : memory_pressure::normal;
}

}  // namespace

result<void> read_system_memory(system_memory& out) {
  MEMORYSTATUSEX m{};
  m.dwLength = sizeof m;
  if (!GlobalMemoryStatusEx(&m)) {
    const DWORD error = GetLastError();
    return failure{status::backend,
                   source::os,
                   {native_domain::win32, static_cast<std::int32_t>(error)},
                   {"GlobalMemoryStatusEx fails with error ", std::uint64_t{error}}};
  }
  out = system_memory();
  out.from = source::os;
  out.total = m.ullTotalPhys;
  out.available = m.ullAvailPhys;
  read_commitment(out);
  read_page_files(out);
  out.pressure = read_pressure();
  const job_limit limit = read_job_limit();
  out.limit = limit.bytes;
  out.limit_used = limit.used;
  if (limit.is_partial || !out.pressure) out.notes |= note::partial;
  return {};
}

}  // namespace hmn::os
