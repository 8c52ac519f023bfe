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

static hmn_process_memory own(hmn_context* context, hmn_fields fields) {
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read_self(context, fields, &memory, &error), HMN_OK);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  assert_int_equal(memory.pid, own_pid());
  return memory;
}

static uint64_t resident(hmn_context* context) {
  return own(context, resident_field).resident_bytes;
}

static void by_default_the_caller_has_what_costs_least(void** state) {
  const hmn_process_memory memory = own(*state, 0);
  const hmn_fields both = HMN_PROCESS_MEMORY_HAS_RESIDENT | HMN_PROCESS_MEMORY_HAS_VIRTUAL;
  assert_int_equal(memory.present & ~both, 0);
  assert_int_equal(both & memory_reported() & ~memory.present, 0);
  assert_int_equal(memory.notes, memory.present == both ? 0 : HMN_NOTE_PARTIAL);
  assert_int_equal(memory.resident_bytes % page_bytes(), 0);
  assert_true(memory.resident_bytes >= mib / 4);
  if (memory.present == both) assert_in_range(memory.resident_bytes, 1, memory.virtual_bytes);
}

static void a_field_without_its_bit_is_zero(void** state) {
  const hmn_process_memory memory = own(*state, 0);
  assert_true(memory.peak_resident_bytes == 0 && memory.swap_bytes == 0 &&
              memory.proportional_bytes == 0 && memory.private_bytes == 0 &&
              memory.committed_bytes == 0 && memory.footprint_bytes == 0 &&
              memory.peak_footprint_bytes == 0 && memory.peak_committed_bytes == 0);
}

static void what_is_touched_is_resident_until_it_is_given_back(void** state) {
  const uint64_t before = resident(*state);
  void* block = memory_take(block_bytes);
  const uint64_t with = resident(*state);
  memory_give_back(block, block_bytes);
  assert_in_range(with - before, block_bytes - SLACK_MIB * mib, block_bytes + SLACK_MIB * mib);
  assert_in_range(resident(*state), before - SLACK_MIB * mib, before + SLACK_MIB * mib);
  const hmn_process_memory memory = own(*state, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT);
  assert_true(memory.peak_resident_bytes + SLACK_MIB * mib >= with);
}

/* What no process is without is not reported where the system returns 0. */
static void each_field_is_reported_or_unsupported(void** state) {
  for (hmn_fields field = 1; field != past_all_fields; field <<= 1) {
    NEW(hmn_process_memory, of_self);
    NEW(hmn_process_memory, by_pid);
    const hmn_status status = hmn_process_memory_read_self(*state, field, &of_self, NULL);
    if (status != HMN_E_UNSUPPORTED) assert_status(status, HMN_OK);
    if (memory_reported() & field) assert_status(status, HMN_OK);
    if (memory_never_reported() & field) assert_status(status, HMN_E_UNSUPPORTED);
    assert_status(hmn_process_memory_read(*state, own_pid(), field, &by_pid, NULL), status);
    assert_int_equal(of_self.present & field, status == HMN_OK ? field : 0);
    assert_int_equal(by_pid.present & field, status == HMN_OK ? field : 0);
  }
  const hmn_process_memory all = own(*state, past_all_fields - 1);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PRIVATE) assert_true(all.private_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_COMMITTED) assert_true(all.committed_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PROPORTIONAL) assert_true(all.proportional_bytes > 0);
  if (all.present & HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED)
    assert_true(all.peak_committed_bytes >= all.committed_bytes && all.peak_committed_bytes > 0);
}

/* A field that was asked for and is missing leaves HMN_NOTE_PARTIAL. */
static void a_field_that_this_system_lacks_is_partial(void** state) {
  const hmn_process_memory memory = own(*state, resident_field | memory_never_reported());
  assert_int_equal(memory.present & memory_never_reported(), 0);
  assert_int_equal(memory.present & resident_field, resident_field);
  assert_int_equal(memory.notes, HMN_NOTE_PARTIAL);
}

/* When nothing at all could be read the call fails. */
static void only_fields_that_this_system_lacks_is_unsupported(void** state) {
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read_self(*state, memory_never_reported(), &memory, &error),
                 HMN_E_UNSUPPORTED);
  assert_answers(
      hmn_process_memory_read(*state, own_pid(), memory_never_reported(), &memory, &error),
      HMN_E_UNSUPPORTED);
  assert_int_equal(memory.present, 0);
}

static void pid_0_is_out_of_range(void** state) {
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read(*state, 0, 0, &memory, &error), HMN_E_RANGE);
}

static void a_pid_that_nobody_has_is_no_process(void** state) {
  const uint32_t pids[] = {0x7FFFFFFFu, 0x80000000u, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    NEW(hmn_process_memory, memory);
    assert_answers(hmn_process_memory_read(*state, pids[i], 0, &memory, &error), HMN_E_NO_PROCESS);
    assert_int_equal(memory.pid, 0);
  }
}

static void holds_a_block(void* argument) {
  (void)argument;
  memory_take(block_bytes);
  child_ready();
  for (;;) sleep_ms(PATIENT_MS);
}

/* Its number stays taken for a while: it has ended all the same. */
static void another_process_is_read_until_it_ends(void** state) {
  child* holder = child_start(holds_a_block);
  const uint32_t pid = child_pid(holder);
  NEW(hmn_process_memory, memory);
  assert_answers(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_OK);
  assert_int_equal(memory.pid, pid);
  assert_true(memory.resident_bytes >= block_bytes - SLACK_MIB * mib);
  child_kill(holder);
  assert_answers(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_E_NO_PROCESS);
  child_let_go(holder);
  assert_answers(hmn_process_memory_read(*state, pid, 0, &memory, &error), HMN_E_NO_PROCESS);
}

/* Of the same process in any context, read in any way. */
static uint64_t key_in_new_context(uint32_t pid) {
  NEW(hmn_process_memory, memory);
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const hmn_fields field = HMN_PROCESS_MEMORY_HAS_PROCESS_KEY;
  if (pid == 0) {
    assert_answers(hmn_process_memory_read_self(context, field, &memory, &error), HMN_OK);
  } else {
    assert_answers(hmn_process_memory_read(context, pid, field, &memory, &error), HMN_OK);
  }
  assert_int_equal(memory.present, field);
  hmn_context_destroy(context);
  return memory.process_key;
}

static void a_process_has_one_key(void** state) {
  (void)state;
  child* other = child_start(holds_a_block);
  const uint64_t other_key = key_in_new_context(child_pid(other));
  assert_true(other_key == key_in_new_context(child_pid(other)));
  child_kill(other);
  child_let_go(other);
  const uint64_t key = key_in_new_context(0);
  assert_true(key == key_in_new_context(0));
  assert_true(key == key_in_new_context(own_pid()));
  assert_true(key != other_key);
}

static void the_host_has_memory(void** state) {
  NEW(hmn_system_memory, memory);
  assert_answers(hmn_system_memory_read(*state, 0, &memory, &error), HMN_OK);
  const hmn_fields known = HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_AVAILABLE;
  assert_int_equal(memory.present & known, known);
  assert_int_equal(memory.backend, HMN_BACKEND_OS);
  /* qemu-user cuts what 32-bit programs ask of it to 4 GiB. */
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
      cmocka_unit_test(by_default_the_caller_has_what_costs_least),
      cmocka_unit_test(a_field_without_its_bit_is_zero),
      cmocka_unit_test(what_is_touched_is_resident_until_it_is_given_back),
      cmocka_unit_test(each_field_is_reported_or_unsupported),
      cmocka_unit_test(a_field_that_this_system_lacks_is_partial),
      cmocka_unit_test(only_fields_that_this_system_lacks_is_unsupported),
      cmocka_unit_test(pid_0_is_out_of_range),
      cmocka_unit_test(a_pid_that_nobody_has_is_no_process),
      cmocka_unit_test(another_process_is_read_until_it_ends),
      cmocka_unit_test(a_process_has_one_key),
      cmocka_unit_test(the_host_has_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
