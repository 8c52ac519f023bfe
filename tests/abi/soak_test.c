/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program that runs for weeks: ten million readings, a million snapshots and a hundred thousand
 * contexts use no more memory, descriptors and threads than a tenth of them did. HMN_SOAK_DIVISOR
 * makes the run shorter.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "fault/machine.h"
#include "support/calls.h"
#include "support/clock.h"
#include "support/thread.h"

enum { READINGS = 10000000, SNAPSHOTS = 1000000, CONTEXTS = 100000 };
/* A block that leaks in each round adds at least three times that, even with the smallest count. */
enum { FLAT_BYTES = 1 << 20 };

typedef struct load {
  uint64_t resident;
  int descriptors, threads;
} load;

static uint64_t read_resident(void) {
  unsigned long long size = 0;
  unsigned long long resident = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  assert_non_null(statm);
  assert_int_equal(fscanf(statm, "%llu %llu", &size, &resident), 2);
  fclose(statm);
  return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static load read_load(void) {
  const load now = {read_resident(), descriptor_count(), thread_count()};
  return now;
}

static void assert_flat(const load* before) {
  load now = read_load();
  for (const int64_t start = now_ms();
       now.threads > before->threads && now_ms() - start < PATIENT_MS; sleep_ms(10)) {
    now = read_load();
  }
  assert_int_equal(now.descriptors, before->descriptors);
  assert_int_equal(now.threads, before->threads);
  assert_in_range(now.resident, 0, before->resident + FLAT_BYTES);
}

/* One round, in a context that is opened once for all rounds. */
typedef void (*work)(hmn_context* context, int round);

static void repeat(work once, hmn_context* context, int rounds) {
  const char* divisor = getenv("HMN_SOAK_DIVISOR");
  load before = {0};
  if (divisor != NULL) rounds /= atoi(divisor);
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 10) before = read_load();
    once(context, round);
  }
  assert_flat(&before);
}

static void read_a_value(hmn_context* context, int round) {
  NEW(hmn_process_memory, memory);
  NEW(hmn_pool, pool);
  NEW(hmn_usage, usage);
  NEW(hmn_telemetry, telemetry);
  hmn_status status = HMN_OK;
  switch (round % 4) {
    case 0:
      status = hmn_process_memory_read_self(context, 0, &memory, NULL);
      break;
    case 1:
      status = hmn_pool_read(context, NVIDIA, HMN_POOL_MAIN, 0, 0, &pool, NULL);
      break;
    case 2:
      status = hmn_usage_read_self(context, NVIDIA, 0, &usage, NULL);
      break;
    default:
      status = hmn_telemetry_read(context, NVIDIA, HMN_TELEMETRY_HAS_TEMPERATURE, &telemetry, NULL);
      break;
  }
  if (status != HMN_OK) fail_msg("round %d: %s", round, hmn_status_name(status));
}

static void take_snapshot(hmn_context* context, int round) {
  NEW(hmn_snapshot_options, options);
  hmn_snapshot* snapshot = NULL;
  options.collect = round % 100 == 0 ? EVERYTHING : 0;
  const hmn_status status = hmn_snapshot_take(context, &options, &snapshot, NULL);
  if (status != HMN_OK) fail_msg("round %d: %s", round, hmn_status_name(status));
  hmn_snapshot_destroy(snapshot);
}

static hmn_context* open_context(hmn_flags flags) {
  const hmn_context_options options = patient_options(flags);
  hmn_context* context = NULL;
  assert_status(hmn_context_create(&options, &context, NULL), HMN_OK);
  assert_status(machine_use(context, 0), HMN_OK);
  return context;
}

/* Every tenth context has a worker. */
static void use_context(hmn_context* unused, int round) {
  (void)unused;
  hmn_context* context = open_context(round % 10 == 0 ? 0 : HMN_CONTEXT_NO_THREADS);
  read_a_value(context, round);
  hmn_context_destroy(context);
}

static void readings_use_constant_resources(void** state) {
  (void)state;
  hmn_context* context = open_context(HMN_CONTEXT_NO_THREADS);
  repeat(read_a_value, context, READINGS);
  hmn_context_destroy(context);
}

static void snapshots_use_constant_resources(void** state) {
  (void)state;
  hmn_context* context = open_context(HMN_CONTEXT_NO_THREADS);
  repeat(take_snapshot, context, SNAPSHOTS);
  hmn_context_destroy(context);
}

static void contexts_use_constant_resources(void** state) {
  (void)state;
  repeat(use_context, NULL, CONTEXTS);
}

static int setup(void** state) {
  (void)state;
  return machine_begin();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(readings_use_constant_resources),
      cmocka_unit_test(snapshots_use_constant_resources),
      cmocka_unit_test(contexts_use_constant_resources),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
