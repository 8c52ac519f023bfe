// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Replaces calls of kernel32.dll that Wine has no values for: a program that defines the pointers
// of its import table gets these.
#pragma once

#include <windows.h>

#include <psapi.h>

#include <optional>

namespace fake {

// PROCESS_MEMORY_COUNTERS_EX2, after the documentation.
struct Counters {
  PROCESS_MEMORY_COUNTERS_EX ex{};
  SIZE_T private_working_set = 0;
  ULONG64 shared_commit = 0;
};

struct Kernel32 {
  Counters process;
  bool has_ex2 = true;  // Windows 10 22H2
  DWORD refuses_process = 0;
  bool is_in_job = true;
  std::optional<JOBOBJECT_EXTENDED_LIMIT_INFORMATION> limits;  // none: not reported by the job
  std::optional<ULONG64> used_by_job;
};

// Values that the calls return; reset for each test case.
Kernel32& system();

}  // namespace fake
