/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What Windows alone reports, or reports in a way of its own.
 */
#include "support/child.h"
#include "support/clock.h"
#include "support/memory.h"
#include "support/suite.h"

static const size_t block_bytes = (size_t)64 << 20;

/* OpenProcess takes the next three numbers for the same process. */
static void a_number_beside_one_is_nobodys(void** state) {
  hmn_context* context = NULL;
  (void)state;
  assert_returns(hmn_context_create(NULL, &context, &error), HMN_OK);
  for (uint32_t beside = 1; beside < 4; ++beside) {
    NEW(hmn_process_memory, memory);
    assert_returns(hmn_process_memory_read(context, own_pid() + beside, 0, &memory, &error),
                   HMN_E_NO_PROCESS);
  }
  hmn_context_destroy(context);
}

static void holds_a_block(void* argument) {
  (void)argument;
  memory_allocate(block_bytes);
  child_ready();
  for (;;) sleep_ms(PATIENT_MS);
}

static uint64_t peak_committed(hmn_context* context, uint32_t pid) {
  NEW(hmn_process_memory, memory);
  assert_returns(
      hmn_process_memory_read(context, pid, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED, &memory, &error),
      HMN_OK);
  assert_int_equal(memory.present, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED);
  return memory.peak_committed_bytes;
}

static void what_a_process_commits_raises_its_peak_alone(void** state) {
  hmn_context* context = NULL;
  (void)state;
  assert_returns(hmn_context_create(NULL, &context, &error), HMN_OK);
  const uint64_t own = peak_committed(context, own_pid());
  child* holder = child_start(holds_a_block);
  const uint64_t others = peak_committed(context, child_pid(holder));
  assert_in_range(own, 1, block_bytes - 1);
  assert_in_range(peak_committed(context, own_pid()), 1, block_bytes - 1);
  assert_in_range(others, block_bytes, 2 * block_bytes);
  child_kill(holder);
  child_reap(holder);
  hmn_context_destroy(context);
}

static void pressure_is_a_word_and_no_stall(void** state) {
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
      cmocka_unit_test(a_number_beside_one_is_nobodys),
      cmocka_unit_test(what_a_process_commits_raises_its_peak_alone),
      cmocka_unit_test(pressure_is_a_word_and_no_stall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
