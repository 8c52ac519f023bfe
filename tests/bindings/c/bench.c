/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench MACHINE...: what a snapshot of everything, with every record and name read, costs on each
 * machine file, per object, compared with a bare call. Not a test: the numbers are for
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
  hmn_snapshot* taken = NULL;
  check(hmn_snapshot_take(context, &options, &taken, NULL));
  return taken;
}

static unsigned read_devices(const hmn_snapshot* s, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    hmn_device device;
    hmn_telemetry telemetry;
    hmn_usage own;
    device.struct_size = sizeof device;
    telemetry.struct_size = sizeof telemetry;
    own.struct_size = sizeof own;
    check(hmn_snapshot_device_at(s, i, &device, NULL));
    check(hmn_snapshot_find_telemetry(s, i, &telemetry, NULL));
    check(hmn_snapshot_find_self(s, i, &own, NULL));
  }
  return 3 * count;
}

static unsigned read_usages(const hmn_snapshot* s, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    hmn_usage usage;
    char name[256];
    usage.struct_size = sizeof usage;
    check(hmn_snapshot_usage_at(s, i, &usage, NULL));
    check(hmn_snapshot_text_at(s, HMN_TEXT_PROCESS_NAME, i, name, sizeof name, NULL, NULL));
  }
  return count;
}

static unsigned read_rest(const hmn_snapshot* s, const hmn_snapshot_info* info) {
  hmn_process_memory memory;
  hmn_system_memory system;
  memory.struct_size = sizeof memory;
  system.struct_size = sizeof system;
  check(hmn_snapshot_memory(s, &memory, NULL));
  check(hmn_snapshot_system(s, &system, NULL));
  for (uint32_t i = 0; i < info->pool_count; ++i) {
    hmn_pool pool;
    pool.struct_size = sizeof pool;
    check(hmn_snapshot_pool_at(s, i, &pool, NULL));
  }
  for (uint32_t i = 0; i < info->diagnostic_count; ++i) {
    hmn_diagnostic diagnostic;
    diagnostic.struct_size = sizeof diagnostic;
    check(hmn_snapshot_diagnostic_at(s, i, &diagnostic, NULL));
  }
  return 2 + info->pool_count + info->diagnostic_count;
}

/* How many objects there were. */
static unsigned read_all(const hmn_snapshot* s) {
  hmn_snapshot_info info;
  info.struct_size = sizeof info;
  check(hmn_snapshot_read(s, &info, NULL));
  return 1 + read_rest(s, &info) + read_devices(s, info.device_count) +
         read_usages(s, info.usage_count);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

struct times {
  double median, least;
};

/* Of a snapshot taken, read whole if `objects` is given, and destroyed. */
static struct times measure(hmn_context* context, unsigned* objects) {
  static double times[ROUNDS];
  for (int i = -WARM_UP; i < ROUNDS; ++i) {
    const double start = now_ns();
    hmn_snapshot* s = take(context);
    if (objects) *objects = read_all(s);
    hmn_snapshot_destroy(s);
    if (i >= 0) times[i] = now_ns() - start;
  }
  qsort(times, ROUNDS, sizeof *times, compare);
  return (struct times){times[ROUNDS / 2], times[0]};
}

static void bench(const char* machine) {
  hmn_context* context = NULL;
  unsigned objects = 0;
  struct times taken, read;
  char* path = realpath(machine, NULL);
  check(hmn_context_create(NULL, &context, NULL));
  check(hmn_context_set_path(context, HMN_PATH_SIMULATION, path, NULL));
  taken = measure(context, NULL);
  read = measure(context, &objects);
  printf(
      "%s: %u objects; median (least) us: taken %.1f (%.1f), read whole %.1f (%.1f); ns per object "
      "%.0f\n",
      machine, objects, taken.median / 1000, taken.least / 1000, read.median / 1000,
      read.least / 1000, (read.least - taken.least) / objects);
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
