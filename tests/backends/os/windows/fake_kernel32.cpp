// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_kernel32.hpp"

namespace {

BOOL refuse(DWORD error) {
  SetLastError(error);
  return FALSE;
}

template <class T>
BOOL copy_out(const T& value, void* out, DWORD size) {
  if (size != sizeof value) return refuse(ERROR_BAD_LENGTH);
  CopyMemory(out, &value, sizeof value);
  return TRUE;
}

BOOL WINAPI is_in_job(HANDLE, HANDLE, BOOL* out) {
  *out = fake::system().is_in_job ? TRUE : FALSE;
  return TRUE;
}

BOOL WINAPI query_job(HANDLE job, JOBOBJECTINFOCLASS information_class, void* out, DWORD size,
                      DWORD*) {
  const fake::Kernel32& system = fake::system();
  constexpr int memory_usage = 28;  // JobObjectMemoryUsageInformation
  if (job != nullptr) return refuse(ERROR_INVALID_HANDLE);
  if (information_class == JobObjectExtendedLimitInformation && system.limits)
    return copy_out(*system.limits, out, size);
  if (information_class == memory_usage && system.used_by_job) {
    const ULONG64 now_and_peak[] = {*system.used_by_job, *system.used_by_job};
    return copy_out(now_and_peak, out, size);
  }
  return refuse(ERROR_ACCESS_DENIED);
}

}  // namespace

fake::Kernel32& fake::system() {
  static Kernel32 instance;
  return instance;
}

extern "C" {

// Declared by the toolchain without an import of its own.
BOOL WINAPI K32GetProcessMemoryInfo(HANDLE, PROCESS_MEMORY_COUNTERS* out, DWORD size) {
  const fake::Kernel32& system = fake::system();
  if (system.refuses_process != 0) return refuse(system.refuses_process);
  if (size == sizeof system.process && system.has_ex2) return copy_out(system.process, out, size);
  return copy_out(system.process.ex, out, size);
}

extern void* const __imp_IsProcessInJob;
extern void* const __imp_QueryInformationJobObject;
void* const __imp_IsProcessInJob = reinterpret_cast<void*>(is_in_job);
void* const __imp_QueryInformationJobObject = reinterpret_cast<void*>(query_job);
}
