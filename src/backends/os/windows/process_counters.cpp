// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_counters.hpp"

#include <psapi.h>

#include <cstddef>

#include "backends/os/windows/opened_process.hpp"

namespace hmn::os {
namespace {

// PROCESS_MEMORY_COUNTERS_EX2, missing in older headers; older systems leave the end unchanged.
struct counters_ex2 {
  PROCESS_MEMORY_COUNTERS_EX ex;
  SIZE_T private_working_set;
  ULONG64 shared_commit;
};
static_assert(offsetof(counters_ex2, private_working_set) == sizeof(PROCESS_MEMORY_COUNTERS_EX));

// ntddk.h: VM_COUNTERS, class 3 of NtQueryInformationProcess.
struct vm_counters {
  SIZE_T peak_virtual_size;
  SIZE_T virtual_size;
  ULONG page_faults;
  SIZE_T rest[8];
};
static_assert(sizeof(vm_counters) == 88);
constexpr ULONG process_vm_counters = 3;
// Values of a running process are never 0: 0 is unknown.
std::optional<std::uint64_t> reported(std::uint64_t bytes) noexcept {
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

bool read_counters(HANDLE process, process_counters& out) noexcept {
  counters_ex2 found{};
  auto* const buffer = reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&found.ex);
  if (!K32GetProcessMemoryInfo(process, buffer, sizeof found) &&
      !K32GetProcessMemoryInfo(process, buffer, sizeof found.ex)) {
    return false;
  }
  out.working_set = found.ex.WorkingSetSize;
  out.peak_working_set = found.ex.PeakWorkingSetSize;
  out.private_usage = reported(found.ex.PrivateUsage);
  out.peak_private_usage = reported(found.ex.PeakPagefileUsage);
  out.private_working_set = reported(found.private_working_set);
  return true;
}

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept {
  vm_counters found{};
  if (!query_process(process, process_vm_counters, &found, sizeof found, nullptr))
    return std::nullopt;
  return reported(found.virtual_size);
}

}  // namespace hmn::os
