/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Values that only Windows reports, or reports in its own way.
 */
#include "support/child.h"
#include "support/clock.h"
#include "support/memory.h"
#include "support/suite.h"

static const size_t block_bytes = (size_t)64 << 20;

/* OpenProcess accepts the three numbers after a PID for the same process. */
static void a_number_next_to_a_pid_is_reported_as_no_process(void** state) {
  hmn_context* context = NULL;
  (void)state;
  assert_returns(hmn_context_create(NULL, &context, &error), HMN_OK);
  for (uint32_t offset = 1; offset < 4; ++offset) {
    NEW(hmn_process_memory, memory);
    assert_returns(hmn_process_memory_read(context, own_pid() + offset, 0, &memory, &error),
                   HMN_E_NO_PROCESS);
  }
  hmn_context_destroy(context);
}

static void hold_block(void* argument) {
  (void)argument;
  memory_allocate(block_bytes);
  child_ready();
  for (;;) sleep_ms(PATIENT_MS);
}

static uint64_t read_peak_committed(hmn_context* context, uint32_t pid) {
  NEW(hmn_process_memory, memory);
  assert_returns(
      hmn_process_memory_read(context, pid, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED, &memory, &error),
      HMN_OK);
  assert_int_equal(memory.present, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED);
  return memory.peak_committed_bytes;
}

static void committed_memory_raises_only_the_peak_of_its_process(void** state) {
  hmn_context* context = NULL;
  (void)state;
  assert_returns(hmn_context_create(NULL, &context, &error), HMN_OK);
  const uint64_t self = read_peak_committed(context, own_pid());
  child* holder = child_start(hold_block);
  const uint64_t other = read_peak_committed(context, child_pid(holder));
  assert_in_range(self, 1, block_bytes - 1);
  assert_in_range(read_peak_committed(context, own_pid()), 1, block_bytes - 1);
  assert_in_range(other, block_bytes, 2 * block_bytes);
  child_kill(holder);
  child_reap(holder);
  hmn_context_destroy(context);
}

static void pressure_is_reported_without_a_stall(void** state) {
  hmn_context* context = NULL;
  NEW(hmn_system_memory, memory);
  (void)state;
  assert_returns(hmn_context_create(NULL, &context, &error), HMN_OK);
  assert_returns(hmn_system_memory_read(context, 0, &memory, &error), HMN_OK);
  assert_true((memory.present & HMN_SYSTEM_MEMORY_HAS_PRESSURE) != 0);
  assert_true(memory.pressure == HMN_PRESSURE_NORMAL || memory.pressure == HMN_PRESSURE_WARNING);
  assert_int_equal(memory.present & HMN_SYSTEM_MEMORY_HAS_STALL, 0);
  hmn_context_destroy(context);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_number_next_to_a_pid_is_reported_as_no_process),
      cmocka_unit_test(committed_memory_raises_only_the_peak_of_its_process),
      cmocka_unit_test(pressure_is_reported_without_a_stall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
