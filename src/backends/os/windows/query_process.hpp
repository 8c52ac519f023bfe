// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

namespace hmn::os {

// NtQueryInformationProcess, where the system has it. `needed` (may be null): bytes of the answer,
// also when they did not fit.
bool query_process(HANDLE process, ULONG what, void* room, ULONG size, ULONG* needed) noexcept;

}  // namespace hmn::os
