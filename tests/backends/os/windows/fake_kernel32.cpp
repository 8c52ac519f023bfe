// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_kernel32.hpp"

namespace {

BOOL refuse(DWORD error) {
  SetLastError(error);
  return FALSE;
}

template <class T>
BOOL give(const T& value, void* out, DWORD size) {
  if (size != sizeof value) return refuse(ERROR_BAD_LENGTH);
  CopyMemory(out, &value, sizeof value);
  return TRUE;
}

BOOL WINAPI is_in_job(HANDLE, HANDLE, BOOL* out) {
  *out = fake::system().is_in_job ? TRUE : FALSE;
  return TRUE;
}

BOOL WINAPI query_job(HANDLE job, JOBOBJECTINFOCLASS what, void* out, DWORD size, DWORD*) {
  const fake::Kernel32& s = fake::system();
  constexpr int memory_usage = 28;  // JobObjectMemoryUsageInformation
  if (job != nullptr) return refuse(ERROR_INVALID_HANDLE);
  if (what == JobObjectExtendedLimitInformation && s.limits) return give(*s.limits, out, size);
  if (what == memory_usage && s.used_by_job) {
    const ULONG64 now_and_peak[] = {*s.used_by_job, *s.used_by_job};
    return give(now_and_peak, out, size);
  }
  return refuse(ERROR_ACCESS_DENIED);
}

}  // namespace

fake::Kernel32& fake::system() {
  static Kernel32 one;
  return one;
}

extern "C" {

// Declared by the toolchain without an import of its own.
BOOL WINAPI K32GetProcessMemoryInfo(HANDLE, PROCESS_MEMORY_COUNTERS* out, DWORD size) {
  const fake::Kernel32& s = fake::system();
  if (s.refuses_process != 0) return refuse(s.refuses_process);
  if (size == sizeof s.process && s.has_ex2) return give(s.process, out, size);
  return give(s.process.ex, out, size);
}

extern void* const __imp_IsProcessInJob;
extern void* const __imp_QueryInformationJobObject;
void* const __imp_IsProcessInJob = reinterpret_cast<void*>(is_in_job);
void* const __imp_QueryInformationJobObject = reinterpret_cast<void*>(query_job);
}
