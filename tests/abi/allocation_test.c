/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/allocator.h"
#include "support/child.h"
#include "support/suite.h"

enum { ROUNDS = 100, TRIES = 20 };

/* In the steady state: after the first two calls, which open files and grow buffers, and without
 * the scan of the bus that is due once a second. */
#define assert_allocates_nothing(call)                                 \
  do {                                                                 \
    long allocations = 1;                                              \
    assert_status(call, HMN_OK);                                       \
    assert_status(call, HMN_OK);                                       \
    for (int tries = 0; tries < TRIES && allocations != 0; ++tries) {  \
      const long before = allocator_total();                           \
      for (int i = 0; i < ROUNDS; ++i) assert_int_equal(call, HMN_OK); \
      allocations = allocator_total() - before;                        \
    }                                                                  \
    assert_int_equal(allocations, 0);                                  \
  } while (0)

static int setup(void** state) {
  const hmn_context_options options = patient_options(0);
  hmn_context* context = NULL;
  if (hmn_context_create(&options, &context, NULL) != HMN_OK) return -1;
  *state = context;
#ifdef HMN_TEST_NVML
  return hmn_context_set_path(context, HMN_PATH_NVML, HMN_TEST_NVML, NULL);
#else
  return 0;
#endif
}

static int teardown(void** state) {
  hmn_context_destroy(*state);
  return 0;
}

/* Otherwise the suite would count nothing and pass. */
static void the_library_uses_the_allocator_of_this_program(void** state) {
  (void)state;
  const long before = allocator_total();
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  assert_true(allocator_total() > before);
  hmn_context_destroy(context);
}

static void reading_own_memory_allocates_nothing(void** state) {
  NEW(hmn_process_memory, memory);
  assert_allocates_nothing(hmn_process_memory_read_self(*state, 0, &memory, NULL));
  assert_allocates_nothing(hmn_process_memory_read_self(*state, 63, &memory, NULL));
}

static void reading_memory_of_another_process_allocates_nothing(void** state) {
  NEW(hmn_process_memory, memory);
  const uint32_t pid = own_pid();
  assert_allocates_nothing(hmn_process_memory_read(*state, pid, 0, &memory, NULL));
}

#ifdef HMN_TEST_NVML
static void reading_a_device_allocates_nothing(void** state) {
  NEW(hmn_device, device);
  assert_allocates_nothing(hmn_device_read(*state, 0, 0, &device, NULL));
}

static void reading_a_pool_allocates_nothing(void** state) {
  NEW(hmn_pool, pool);
  assert_allocates_nothing(hmn_pool_read(*state, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL));
}

static void reading_telemetry_allocates_nothing(void** state) {
  NEW(hmn_telemetry, telemetry);
  const hmn_fields fields =
      HMN_TELEMETRY_HAS_GPU_BUSY | HMN_TELEMETRY_HAS_TEMPERATURE | HMN_TELEMETRY_HAS_POWER;
  assert_allocates_nothing(hmn_telemetry_read(*state, 0, fields, &telemetry, NULL));
}

static void reading_usage_of_another_process_allocates_nothing(void** state) {
  NEW(hmn_usage, usage);
  assert_allocates_nothing(hmn_usage_read(*state, 0, 4242, 0, &usage, NULL));
}

static void reading_own_usage_allocates_nothing(void** state) {
  NEW(hmn_usage, usage);
  assert_allocates_nothing(hmn_usage_read_self(*state, 0, 0, &usage, NULL));
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_uses_the_allocator_of_this_program),
      cmocka_unit_test(reading_own_memory_allocates_nothing),
      cmocka_unit_test(reading_memory_of_another_process_allocates_nothing),
#ifdef HMN_TEST_NVML
      cmocka_unit_test(reading_a_device_allocates_nothing),
      cmocka_unit_test(reading_a_pool_allocates_nothing),
      cmocka_unit_test(reading_telemetry_allocates_nothing),
      cmocka_unit_test(reading_usage_of_another_process_allocates_nothing),
      cmocka_unit_test(reading_own_usage_allocates_nothing),
#endif
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
