/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/memory.h"

#include <windows.h>

#include "support/suite.h"

void* memory_allocate(size_t bytes) {
  void* block = VirtualAlloc(NULL, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  assert_non_null(block);
  return memset(block, 1, bytes);
}

void memory_free(void* block, size_t bytes) {
  (void)bytes;
  VirtualFree(block, 0, MEM_RELEASE);
}

/* Wine reports no private bytes, and returns the current committed bytes as their peak. */
hmn_flags reported_memory_fields(void) {
  return HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT |
         HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED;
}

hmn_flags unreported_memory_fields(void) {
  return HMN_PROCESS_MEMORY_HAS_SWAP | HMN_PROCESS_MEMORY_HAS_PROPORTIONAL |
         HMN_PROCESS_MEMORY_HAS_FOOTPRINT | HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT;
}

uint64_t page_bytes(void) {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  return system.dwPageSize;
}

uint64_t installed_bytes(void) {
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  assert_true(GlobalMemoryStatusEx(&status));
  return status.ullTotalPhys;
}
