/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench MACHINE...: the cost of a full snapshot, with every record and name read, on each machine
 * file, per object, compared with a bare call. Not a test: the numbers are for
 * docs/performance.md. */
#define _XOPEN_SOURCE 700
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 400, WARM_UP = 50, BARE_CALLS = 10000000, EVERYTHING = 127 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(hmn_status status) {
  if (status == HMN_OK || status == HMN_E_EMPTY) return;
  fprintf(stderr, "%s\n", hmn_status_name(status));
  exit(EXIT_FAILURE);
}

static hmn_snapshot* take(hmn_context* context) {
  const hmn_snapshot_options options = {.struct_size = sizeof options, .collect = EVERYTHING};
  hmn_snapshot* snapshot = NULL;
  check(hmn_snapshot_take(context, &options, &snapshot, NULL));
  return snapshot;
}

static unsigned read_devices(const hmn_snapshot* snapshot, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    hmn_device device;
    hmn_telemetry telemetry;
    hmn_usage own_usage;
    device.struct_size = sizeof device;
    telemetry.struct_size = sizeof telemetry;
    own_usage.struct_size = sizeof own_usage;
    check(hmn_snapshot_device_at(snapshot, i, &device, NULL));
    check(hmn_snapshot_find_telemetry(snapshot, i, &telemetry, NULL));
    check(hmn_snapshot_find_self(snapshot, i, &own_usage, NULL));
  }
  return 3 * count;
}

static unsigned read_usages(const hmn_snapshot* snapshot, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    hmn_usage usage;
    char name[256];
    usage.struct_size = sizeof usage;
    check(hmn_snapshot_usage_at(snapshot, i, &usage, NULL));
    check(hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_NAME, i, name, sizeof name, NULL, NULL));
  }
  return count;
}

static unsigned read_rest(const hmn_snapshot* snapshot, const hmn_snapshot_info* info) {
  hmn_process_memory memory;
  hmn_system_memory system;
  memory.struct_size = sizeof memory;
  system.struct_size = sizeof system;
  check(hmn_snapshot_memory(snapshot, &memory, NULL));
  check(hmn_snapshot_system(snapshot, &system, NULL));
  for (uint32_t i = 0; i < info->pool_count; ++i) {
    hmn_pool pool;
    pool.struct_size = sizeof pool;
    check(hmn_snapshot_pool_at(snapshot, i, &pool, NULL));
  }
  for (uint32_t i = 0; i < info->diagnostic_count; ++i) {
    hmn_diagnostic diagnostic;
    diagnostic.struct_size = sizeof diagnostic;
    check(hmn_snapshot_diagnostic_at(snapshot, i, &diagnostic, NULL));
  }
  return 2 + info->pool_count + info->diagnostic_count;
}

/* Returns the number of objects. */
static unsigned read_all(const hmn_snapshot* snapshot) {
  hmn_snapshot_info info;
  info.struct_size = sizeof info;
  check(hmn_snapshot_read(snapshot, &info, NULL));
  return 1 + read_rest(snapshot, &info) + read_devices(snapshot, info.device_count) +
         read_usages(snapshot, info.usage_count);
}

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

struct times {
  double median, fastest;
};

/* Measures a snapshot that is taken, read whole if `objects` is not NULL, and destroyed. */
static struct times measure(hmn_context* context, unsigned* objects) {
  static double times[ROUNDS];
  for (int i = -WARM_UP; i < ROUNDS; ++i) {
    const double start = now_ns();
    hmn_snapshot* snapshot = take(context);
    if (objects) *objects = read_all(snapshot);
    hmn_snapshot_destroy(snapshot);
    if (i >= 0) times[i] = now_ns() - start;
  }
  qsort(times, ROUNDS, sizeof *times, compare_doubles);
  return (struct times){times[ROUNDS / 2], times[0]};
}

static void bench(const char* machine) {
  hmn_context* context = NULL;
  unsigned objects = 0;
  struct times take_times, read_times;
  char* path = realpath(machine, NULL);
  check(hmn_context_create(NULL, &context, NULL));
  check(hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL));
  take_times = measure(context, NULL);
  read_times = measure(context, &objects);
  printf(
      "%s: %u objects; median (least) us: taken %.1f (%.1f), read whole %.1f (%.1f); ns per object "
      "%.0f\n",
      machine, objects, take_times.median / 1000, take_times.fastest / 1000,
      read_times.median / 1000, read_times.fastest / 1000,
      (read_times.fastest - take_times.fastest) / objects);
  hmn_context_destroy(context);
  free(path);
}

int main(int argc, char** argv) {
  const double start = now_ns();
  uint64_t sum = 0;
  for (int i = 0; i < BARE_CALLS; ++i) sum += hmn_version_number();
  printf("bare call: %.2f ns\n", sum ? (now_ns() - start) / BARE_CALLS : 0);
  for (int i = 1; i < argc; ++i) bench(argv[i]);
}
