// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Calls of kernel32.dll that Wine has no values for, in the system's place: a program that defines
// what its import table points to gets these.
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

// What the calls answer from; reset for each test case.
Kernel32& system();

}  // namespace fake
