/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Figures of real processes. Under Wine the working set is the kernel's own figure; private bytes and
 * commitments are constants there and are not judged.
 */
#include "support/suite.h"

#include <errno.h>
#include <windows.h>

enum { MIB = 1 << 20, BLOCK_MIB = 256, PATIENCE = 60000 };

static const hmn_flags all_fields = (1 << 8) - 1;

static void* touch(size_t bytes) {
  char* const block = VirtualAlloc(NULL, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  assert_non_null(block);
  for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
  return block;
}

static uint64_t own_resident(hmn_context* context) {
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read_self(context, HMN_PROCESS_MEMORY_HAS_RESIDENT, &memory,
                                              &error),
                 HMN_OK);
  assert_int_equal(memory.pid, GetCurrentProcessId());
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  assert_true(memory.present & HMN_PROCESS_MEMORY_HAS_RESIDENT);
  return memory.resident_bytes;
}

static void test_own(void** state) {
  hmn_context* const context = *state;
  const uint64_t before = own_resident(context);
  void* const block = touch((size_t)BLOCK_MIB * MIB);
  const uint64_t with = own_resident(context);
  VirtualFree(block, 0, MEM_RELEASE);
  const uint64_t after = own_resident(context);
  assert_true(before > 0);
  assert_true(with >= before + (BLOCK_MIB - 16) * (uint64_t)MIB);
  assert_true(after <= with - (BLOCK_MIB - 16) * (uint64_t)MIB);

  NEW(hmn_process_memory, memory);
  assert_status(hmn_process_memory_read_self(context, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT,
                                             &memory, NULL),
                HMN_OK);
  /* Linux, below Wine, keeps what was added last per processor. */
  assert_true(memory.peak_resident_bytes >= with - 4 * (uint64_t)MIB);
}

static void test_missing(void** state) {
  hmn_context* const context = *state;
  NEW(hmn_process_memory, memory);
  assert_status(hmn_process_memory_read_self(context, all_fields, &memory, NULL), HMN_OK);
  assert_true(memory.notes & HMN_NOTE_PARTIAL);
  const hmn_flags never = HMN_PROCESS_MEMORY_HAS_SWAP | HMN_PROCESS_MEMORY_HAS_PROPORTIONAL |
                          HMN_PROCESS_MEMORY_HAS_FOOTPRINT;
  assert_int_equal(memory.present & never, 0);
  for (hmn_flags field = 1; field < all_fields; field <<= 1) {
    const hmn_status alone = hmn_process_memory_read_self(context, field, &memory, NULL);
    assert_status(alone, alone == HMN_OK ? HMN_OK : HMN_E_UNSUPPORTED);
    if (alone == HMN_OK) assert_int_equal(memory.present, field);
    if (never & field) assert_status(alone, HMN_E_UNSUPPORTED);
  }
  /* What no process is without is not told where the system says 0. */
  assert_status(hmn_process_memory_read_self(context, all_fields, &memory, NULL), HMN_OK);
  if (memory.present & HMN_PROCESS_MEMORY_HAS_COMMITTED) assert_true(memory.committed_bytes > 0);
  if (memory.present & HMN_PROCESS_MEMORY_HAS_PRIVATE) assert_true(memory.private_bytes > 0);
  if (memory.present & HMN_PROCESS_MEMORY_HAS_VIRTUAL)
    assert_true(memory.virtual_bytes >= memory.resident_bytes);
}

static HANDLE event_of(DWORD parent, const char* what) {
  char name[64];
  snprintf(name, sizeof name, "hmn-%s-%lu", what, parent);
  const HANDLE event = CreateEventA(NULL, TRUE, FALSE, name);
  assert_non_null(event);
  return event;
}

/* Another process that has touched a block, and keeps it until it is killed. */
static PROCESS_INFORMATION start_holder(void) {
  char path[MAX_PATH], line[MAX_PATH + 64];
  GetModuleFileNameA(NULL, path, sizeof path);
  snprintf(line, sizeof line, "\"%s\" hold %lu", path, GetCurrentProcessId());
  const HANDLE ready = event_of(GetCurrentProcessId(), "ready");
  STARTUPINFOA startup = {.cb = sizeof startup};
  PROCESS_INFORMATION made;
  assert_true(CreateProcessA(path, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &made));
  assert_int_equal(WaitForSingleObject(ready, PATIENCE), WAIT_OBJECT_0);
  CloseHandle(ready);
  return made;
}

static void test_other(void** state) {
  hmn_context* const context = *state;
  const PROCESS_INFORMATION holder = start_holder();
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read(context, holder.dwProcessId, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.pid, holder.dwProcessId);
  assert_true(memory.resident_bytes >= BLOCK_MIB * (uint64_t)MIB);
  assert_true(memory.resident_bytes < 4 * BLOCK_MIB * (uint64_t)MIB);

  /* Its number stays taken while a handle is open: it has exited all the same. */
  TerminateProcess(holder.hProcess, 3);
  assert_int_equal(WaitForSingleObject(holder.hProcess, PATIENCE), WAIT_OBJECT_0);
  assert_answers(hmn_process_memory_read(context, holder.dwProcessId, 0, &memory, &error),
                 HMN_E_NO_PROCESS);
  CloseHandle(holder.hThread);
  CloseHandle(holder.hProcess);
}

/* OpenProcess takes the next three numbers for the same process. */
static void test_no_process(void** state) {
  hmn_context* const context = *state;
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read(context, 0xFFFFFFF0U, 0, &memory, &error),
                 HMN_E_NO_PROCESS);
  const uint32_t next = (uint32_t)GetCurrentProcessId() + 1;
  assert_answers(hmn_process_memory_read(context, next, 0, &memory, &error), HMN_E_NO_PROCESS);
  assert_answers(hmn_process_memory_read(context, 0, 0, &memory, &error), HMN_E_RANGE);
}

static void test_system(void** state) {
  hmn_context* const context = *state;
  NEW(hmn_system_memory, memory);
  assert_answers(hmn_system_memory_read(context, &memory, &error), HMN_OK);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  assert_true(GlobalMemoryStatusEx(&status));
  assert_int_equal(memory.total_bytes, status.ullTotalPhys);
  assert_true(memory.available_bytes > 0 && memory.available_bytes <= memory.total_bytes);
  if (memory.present & HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT)
    assert_true(memory.commit_limit_bytes >= memory.committed_bytes);
  if (memory.present & HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL)
    assert_true(memory.swap_free_bytes <= memory.swap_total_bytes);
  assert_true((memory.present & HMN_SYSTEM_MEMORY_HAS_PRESSURE) != 0);
  assert_true(memory.pressure == HMN_PRESSURE_NORMAL || memory.pressure == HMN_PRESSURE_WARNING);
  assert_int_equal(memory.present & HMN_SYSTEM_MEMORY_HAS_STALL, 0);
}

static void test_errors_stay(void** state) {
  NEW(hmn_process_memory, memory);
  errno = EDOM;
  SetLastError(4711);
  const hmn_status none = hmn_process_memory_read(*state, 0xFFFFFFF0U, 0, &memory, NULL);
  const DWORD last = GetLastError();
  assert_int_equal(errno, EDOM);
  assert_int_equal(last, 4711);
  assert_status(none, HMN_E_NO_PROCESS);
}

static int hold(const char* parent) {
  touch((size_t)BLOCK_MIB * MIB);
  SetEvent(event_of(strtoul(parent, NULL, 10), "ready"));
  Sleep(10 * PATIENCE);
  return 0;
}

static int open_context(void** state) {
  hmn_context* context = NULL;
  const hmn_status opened = hmn_context_create(NULL, &context, NULL);
  *state = context;
  return opened;
}

static int end_context(void** state) {
  hmn_context_destroy(*state);
  return 0;
}

int main(int count, char** arguments) {
  if (count == 3 && strcmp(arguments[1], "hold") == 0) return hold(arguments[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own),        cmocka_unit_test(test_missing),
      cmocka_unit_test(test_other),      cmocka_unit_test(test_no_process),
      cmocka_unit_test(test_system),     cmocka_unit_test(test_errors_stay),
  };
  return cmocka_run_group_tests(tests, open_context, end_context);
}
