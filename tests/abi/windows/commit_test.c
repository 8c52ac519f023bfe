/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Committed bytes of a process and the limit of its job, as the system reports them. Wine 8 does
 * not: a value that is not reported is absent, with a reason.
 */
#include "support/child.h"
#include "support/suite.h"

#include <stdbool.h>
#include <windows.h>

#include <psapi.h>

static const uint64_t block_bytes = UINT64_C(64) << 20, slack_bytes = UINT64_C(2) << 20;
static const uint64_t limit_bytes = UINT64_C(3) << 30;

static hmn_context* make_context(void) {
  hmn_context* context = NULL;
  CHECK_STATUS(hmn_context_create(NULL, &context, NULL), HMN_OK);
  return context;
}

/* 0: not reported by the system. */
static uint64_t read_private_usage(void) {
  PROCESS_MEMORY_COUNTERS_EX counters = {.cb = sizeof counters};
  assert_true(K32GetProcessMemoryInfo(GetCurrentProcess(), (PROCESS_MEMORY_COUNTERS*)&counters,
                                      sizeof counters));
  return counters.PrivateUsage;
}

static uint64_t read_committed(hmn_context* context, bool is_reported) {
  NEW(hmn_process_memory, memory);
  NEW(hmn_error, error);
  const hmn_status status =
      hmn_process_memory_read_self(context, HMN_PROCESS_MEMORY_HAS_COMMITTED, &memory, &error);
  assert_status(status, is_reported ? HMN_OK : HMN_E_UNSUPPORTED);
  if (!is_reported) assert_non_null(strstr(error.message, "private bytes"));
  return memory.committed_bytes;
}

static void committed_memory_counts_whether_touched_or_not(void** state) {
  (void)state;
  hmn_context* context = make_context();
  const bool is_reported = read_private_usage() != 0;
  const uint64_t before = read_committed(context, is_reported);
  char* block = VirtualAlloc(NULL, block_bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  assert_non_null(block);
  const uint64_t untouched = read_committed(context, is_reported);
  memset(block, 1, block_bytes);
  const uint64_t touched = read_committed(context, is_reported);
  VirtualFree(block, 0, MEM_RELEASE);
  if (is_reported) {
    assert_in_range(untouched - before, block_bytes, block_bytes + slack_bytes);
    assert_in_range(touched - before, block_bytes, block_bytes + slack_bytes);
    assert_true(read_committed(context, is_reported) < before + slack_bytes);
  }
  hmn_context_destroy(context);
}

static JOBOBJECT_EXTENDED_LIMIT_INFORMATION read_limits(HANDLE job) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
  CHECK(QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits,
                                  NULL));
  return limits;
}

static void enter_job(void* argument) {
  (void)argument;
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.JobMemoryLimit = limit_bytes};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_JOB_MEMORY;
  const HANDLE job = CreateJobObjectA(NULL, NULL);
  CHECK(SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits));
  CHECK(AssignProcessToJobObject(job, GetCurrentProcess()));
  const bool is_reported =
      (read_limits(NULL).BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0;
  hmn_context* context = make_context();
  hmn_system_memory memory = {.struct_size = sizeof memory};
  CHECK_STATUS(hmn_system_memory_read(context, 0, &memory, NULL), HMN_OK);
  CHECK(((memory.present & HMN_SYSTEM_MEMORY_HAS_LIMIT) != 0) == is_reported);
  CHECK(memory.limit_bytes == (is_reported ? limit_bytes : 0));
  hmn_context_destroy(context);
}

static void a_program_in_a_job_has_the_limit_of_the_job(void** state) {
  (void)state;
  assert_child_with_copy(enter_job, NULL, 0);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(committed_memory_counts_whether_touched_or_not),
      cmocka_unit_test(a_program_in_a_job_has_the_limit_of_the_job),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
