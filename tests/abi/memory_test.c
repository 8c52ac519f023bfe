/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/memory.h"

#include "support/child.h"
#include "support/clock.h"
#include "support/suite.h"

enum { BLOCK_MIB = 64, SLACK_MIB = 2 };
static const uint64_t mib = 1024 * 1024;
static const size_t block_bytes = (size_t)BLOCK_MIB << 20;
static const hmn_fields resident_field = HMN_PROCESS_MEMORY_HAS_RESIDENT;
static const hmn_fields past_all_fields = HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED << 1;

static int setup(void** state) {
  return hmn_context_create(NULL, (hmn_context**)state, NULL);
}

static int teardown(void** state) {
  hmn_context_destroy(*state);
  return 0;
}

static hmn_process_memory read_own(hmn_context* context, hmn_fields fields) {
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(context, fields, &memory, &error), HMN_OK);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  assert_int_equal(memory.pid, own_pid());
  return memory;
}

static uint64_t read_resident(hmn_context* context) {
  return read_own(context, resident_field).resident_bytes;
}

static void the_default_fields_are_resident_and_virtual(void** state) {
  const hmn_process_memory memory = read_own(*state, 0);
  const hmn_fields fields = HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL;
  assert_int_equal(memory.present & ~fields, 0);
  assert_int_equal(fields & reported_memory_fields() & ~memory.present, 0);
  assert_int_equal(memory.notes, memory.present == fields ? 0 : HMN_NOTE_PARTIAL);
  assert_int_equal(memory.resident_bytes % page_bytes(), 0);
  assert_true(memory.resident_bytes >= mib / 4);
  if (memory.present == fields) assert_in_range(memory.resident_bytes, 1, memory.virtual_bytes);
}

static void a_field_without_its_bit_is_zero(void** state) {
  const hmn_process_memory memory = read_own(*state, 0);
  assert_true(memory.peak_resident_bytes == 0 && memory.swap_bytes == 0 &&
              memory.proportional_bytes == 0 && memory.private_bytes == 0 &&
              memory.committed_bytes == 0 && memory.footprint_bytes == 0 &&
              memory.peak_footprint_bytes == 0 && memory.peak_committed_bytes == 0);
}

static void touched_memory_is_resident_until_it_is_freed(void** state) {
  const uint64_t before = read_resident(*state);
  void* block = memory_allocate(block_bytes);
  const uint64_t during = read_resident(*state);
  memory_free(block, block_bytes);
  assert_in_range(during - before, block_bytes - SLACK_MIB * mib, block_bytes + SLACK_MIB * mib);
  assert_in_range(read_resident(*state), before - SLACK_MIB * mib, before + SLACK_MIB * mib);
  const hmn_process_memory memory = read_own(*state, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT);
  assert_true(memory.peak_resident_bytes + SLACK_MIB * mib >= during);
}

/* A value that every process has is missing, not 0, if the system reports 0. */
static void each_field_is_reported_or_unsupported(void** state) {
  for (hmn_fields field = 1; field != past_all_fields; field <<= 1) {
    NEW(hmn_process_memory, self);
    NEW(hmn_process_memory, by_pid);
    const hmn_status status = hmn_process_memory_read_self(*state, field, &self, NULL);
    if (status != HMN_E_UNSUPPORTED) assert_status(status, HMN_OK);
    if (reported_memory_fields() & field) assert_status(status, HMN_OK);
    if (unreported_memory_fields() & field) assert_status(status, HMN_E_UNSUPPORTED);
    assert_status(hmn_process_memory_read(*state, own_pid(), field, &by_pid, NULL), status);
    assert_int_equal(self.present & field, status == HMN_OK ? field : 0);
    assert_int_equal(by_pid.present & field, status == HMN_OK ? field : 0);
  }
  const hmn_process_memory all = read_own(*state, past_all_fields - 1);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PRIVATE) assert_true(all.private_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_COMMITTED) assert_true(all.committed_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PROPORTIONAL) assert_true(all.proportional_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED)
    assert_true(all.peak_committed_bytes >= all.committed_bytes && all.peak_committed_bytes > 0);
}

/* HMN_NOTE_PARTIAL: a requested field is missing. */
static void a_missing_field_makes_the_result_partial(void** state) {
  const hmn_process_memory memory = read_own(*state, resident_field | unreported_memory_fields());
  assert_int_equal(memory.present & unreported_memory_fields(), 0);
  assert_int_equal(memory.present & resident_field, resident_field);
  assert_int_equal(memory.notes, HMN_NOTE_PARTIAL);
}

/* The call fails if no field could be read. */
static void a_request_for_missing_fields_alone_is_unsupported(void** state) {
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read_self(*state, unreported_memory_fields(), &memory, &error),
                 HMN_E_UNSUPPORTED);
  assert_returns(
      hmn_process_memory_read(*state, own_pid(), unreported_memory_fields(), &memory, &error),
      HMN_E_UNSUPPORTED);
  assert_int_equal(memory.present, 0);
}

static void pid_0_is_out_of_range(void** state) {
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read(*state, 0, 0, &memory, &error), HMN_E_RANGE);
}

static void an_unused_pid_is_reported_as_no_process(void** state) {
  const uint32_t pids[] = {0x7FFFFFFFu, 0x80000000u, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    NEW(hmn_process_memory, memory);
    assert_returns(hmn_process_memory_read(*state, pids[i], 0, &memory, &error), HMN_E_NO_PROCESS);
    assert_int_equal(memory.pid, 0);
  }
}

static void hold_block(void* argument) {
  (void)argument;
  memory_allocate(block_bytes);
  child_ready();
  for (;;) sleep_ms(PATIENT_MS);
}

/* A process has ended even while its PID is still in use. */
static void another_process_is_read_until_it_ends(void** state) {
  child* holder = child_start(hold_block);
  const uint32_t pid = child_pid(holder);
  NEW(hmn_process_memory, memory);
  assert_returns(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.pid, pid);
  assert_true(memory.resident_bytes >= block_bytes - SLACK_MIB * mib);
  child_kill(holder);
  assert_returns(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_E_NO_PROCESS);
  child_reap(holder);
  assert_returns(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_E_NO_PROCESS);
}

/* The key of a process; PID 0: of this one, by hmn_process_memory_read_self. */
static uint64_t key_in_new_context(uint32_t pid) {
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const hmn_fields field = HMN_PROCESS_MEMORY_HAS_PROCESS_KEY;
  if (pid == 0) {
    assert_returns(hmn_process_memory_read_self(context, field, &memory, &error), HMN_OK);
  } else {
    assert_returns(hmn_process_memory_read(context, pid, field, &memory, &error), HMN_OK);
  }
  assert_int_equal(memory.present, field);
  hmn_context_destroy(context);
  return memory.process_key;
}

static void a_process_has_one_key(void** state) {
  (void)state;
  child* other = child_start(hold_block);
  const uint64_t other_key = key_in_new_context(child_pid(other));
  assert_true(other_key == key_in_new_context(child_pid(other)));
  child_kill(other);
  child_reap(other);
  const uint64_t key = key_in_new_context(0);
  assert_true(key == key_in_new_context(0));
  assert_true(key == key_in_new_context(own_pid()));
  assert_true(key != other_key);
}

static void the_host_reports_its_memory(void** state) {
  NEW(hmn_system_memory, memory);
  assert_returns(hmn_system_memory_read(*state, 0, &memory, &error), HMN_OK);
  const hmn_fields fields = HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_AVAILABLE;
  assert_int_equal(memory.present & fields, fields);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  /* qemu-user reports at most 4 GiB to 32-bit programs. */
  if (!HMN_TEST_EMULATED || sizeof(long) == 8)
    assert_int_equal(memory.total_bytes, installed_bytes());
  assert_in_range(memory.available_bytes, 1, memory.total_bytes);
  if (memory.present & HMN_SYSTEM_MEMORY_HAS_SWAP_FREE)
    assert_in_range(memory.swap_free_bytes, 0, memory.swap_total_bytes);
  if (memory.present & HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT)
    assert_true(memory.commit_limit_bytes > 0);
}

int main(int count, char** words) {
  child_main(count, words);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_default_fields_are_resident_and_virtual),
      cmocka_unit_test(a_field_without_its_bit_is_zero),
      cmocka_unit_test(touched_memory_is_resident_until_it_is_freed),
      cmocka_unit_test(each_field_is_reported_or_unsupported),
      cmocka_unit_test(a_missing_field_makes_the_result_partial),
      cmocka_unit_test(a_request_for_missing_fields_alone_is_unsupported),
      cmocka_unit_test(pid_0_is_out_of_range),
      cmocka_unit_test(an_unused_pid_is_reported_as_no_process),
      cmocka_unit_test(another_process_is_read_until_it_ends),
      cmocka_unit_test(a_process_has_one_key),
      cmocka_unit_test(the_host_reports_its_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
