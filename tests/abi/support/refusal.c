/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "refusal.h"

#include "clock.h"

static int wait_for_release(long before, int64_t timeout_ms) {
  for (const int64_t start = now_ms(); allocator_live() > before; sleep_ms(10)) {
    if (now_ms() - start > timeout_ms) return 0;
  }
  return 1;
}

int throw_first_exception(void** state) {
  hmn_context* context = NULL;
  (void)state;
  allocator_refuse(0, 2); /* the exception is not allocated either */
  const hmn_status status = hmn_context_create(NULL, &context, NULL);
  allocator_allow();
  return status == HMN_E_NO_MEMORY ? 0 : -1;
}

void assert_no_leak(long before) {
  if (!wait_for_release(before, PATIENT_MS)) assert_in_range(allocator_live(), 0, before);
}

long run_without_leak(attempt run, void* argument, long skip, long times) {
  for (int i = 0; i < 6; ++i) {
    const long before = allocator_live();
    const long refused = run(argument, skip, times);
    if (wait_for_release(before, 1000)) return refused;
  }
  fail_msg("memory leaks when allocation %ld is refused", skip);
  return 0;
}

void assert_exhausted(hmn_status status) {
  if (status != HMN_E_LIMIT) assert_status(status, HMN_E_NO_MEMORY);
}
