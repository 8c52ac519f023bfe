/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "support/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/suite.h"

void* memory_allocate(size_t bytes) {
  void* block =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  assert_ptr_not_equal(block, MAP_FAILED);
  /* qemu-user populates nothing; the thread sanitizer would touch a shadow as well. */
  if (HMN_TEST_EMULATED) memset(block, 1, bytes);
  return block;
}

void memory_free(void* block, size_t bytes) {
  munmap(block, bytes);
}

hmn_flags reported_memory_fields(void) {
  return HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT |
         HMN_PROCESS_MEMORY_HAS_VIRTUAL | HMN_PROCESS_MEMORY_HAS_SWAP |
         HMN_PROCESS_MEMORY_HAS_PROPORTIONAL | HMN_PROCESS_MEMORY_HAS_PRIVATE;
}

hmn_flags unreported_memory_fields(void) {
  return HMN_PROCESS_MEMORY_HAS_COMMITTED | HMN_PROCESS_MEMORY_HAS_FOOTPRINT |
         HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT | HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED;
}

uint64_t page_bytes(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t installed_bytes(void) {
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * page_bytes();
}
