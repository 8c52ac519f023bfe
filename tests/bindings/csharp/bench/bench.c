/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench MACHINE...: what Program.cs does, in C. */
#define _POSIX_C_SOURCE 200809L
#include <hypomnesis.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM = 200, ROUNDS = 40, EACH = 100, CALLS = 100000, EVERYTHING = 127 };

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void must(hmn_status status) {
  if (status == HMN_OK || status == HMN_E_EMPTY) return;
  fprintf(stderr, "%s\n", hmn_status_name(status));
  exit(1);
}

static struct copy {
  hmn_snapshot_info info;
  hmn_process_memory memory;
  hmn_system_memory system;
  hmn_device devices[16];
  hmn_telemetry telemetry[16];
  hmn_usage own[16];
  hmn_pool pools[64];
  hmn_usage usages[256];
  char names[256][256];
  hmn_diagnostic diagnostics[64];
} copy;

static void copy_devices(const hmn_snapshot* snapshot) {
  for (uint32_t i = 0; i < copy.info.device_count; ++i) {
    copy.devices[i].struct_size = sizeof copy.devices[i];
    copy.telemetry[i].struct_size = sizeof copy.telemetry[i];
    copy.own[i].struct_size = sizeof copy.own[i];
    must(hmn_snapshot_device(snapshot, i, &copy.devices[i]));
    must(hmn_snapshot_telemetry(snapshot, i, &copy.telemetry[i]));
    must(hmn_snapshot_self(snapshot, i, &copy.own[i]));
  }
}

static void copy_lists(const hmn_snapshot* snapshot) {
  for (uint32_t i = 0; i < copy.info.pool_count; ++i) {
    copy.pools[i].struct_size = sizeof copy.pools[i];
    must(hmn_snapshot_pool(snapshot, i, &copy.pools[i]));
  }
  for (uint32_t i = 0; i < copy.info.usage_count; ++i) {
    copy.usages[i].struct_size = sizeof copy.usages[i];
    must(hmn_snapshot_usage(snapshot, i, &copy.usages[i]));
    must(hmn_snapshot_text(snapshot, HMN_TEXT_PROCESS_NAME, i, copy.names[i], sizeof copy.names[i], NULL));
  }
  for (uint32_t i = 0; i < copy.info.diagnostic_count; ++i) {
    copy.diagnostics[i].struct_size = sizeof copy.diagnostics[i];
    must(hmn_snapshot_diagnostic(snapshot, i, &copy.diagnostics[i]));
  }
}

static void take(hmn_context* context) {
  const hmn_snapshot_options options = {.struct_size = sizeof options, .collect = EVERYTHING};
  hmn_snapshot* snapshot = NULL;
  must(hmn_snapshot_take(context, &options, &snapshot, NULL));
  copy.info.struct_size = sizeof copy.info;
  copy.memory.struct_size = sizeof copy.memory;
  copy.system.struct_size = sizeof copy.system;
  must(hmn_snapshot_read(snapshot, &copy.info));
  must(hmn_snapshot_memory(snapshot, &copy.memory));
  must(hmn_snapshot_system(snapshot, &copy.system));
  copy_devices(snapshot);
  copy_lists(snapshot);
  hmn_snapshot_destroy(snapshot);
}

static void time_snapshots(const char* machine) {
  const hmn_context_options options = {.struct_size = sizeof options, .flags = HMN_CONTEXT_NO_THREADS};
  hmn_context* context = NULL;
  double best = 1e9;
  must(hmn_context_create(&options, &context, NULL));
  must(hmn_context_set_path(context, HMN_PATH_SIMULATION, machine, NULL));
  for (int i = 0; i < WARM; ++i) take(context);
  for (int round = 0; round < ROUNDS; ++round) {
    const double start = now_us();
    for (int i = 0; i < EACH; ++i) take(context);
    const double took = (now_us() - start) / EACH;
    if (took < best) best = took;
  }
  printf("snapshot\t%.2f\t%u\t%s\n", best,
         3 + 3 * copy.info.device_count + copy.info.pool_count + copy.info.usage_count + copy.info.diagnostic_count,
         machine);
  hmn_context_destroy(context);
}

int main(int count, char** arguments) {
  volatile uint32_t sum = 0;
  for (int i = 1; i < count; ++i) time_snapshots(arguments[i]);
  const double start = now_us();
  for (int i = 0; i < CALLS; ++i) sum += hmn_version_number();
  printf("call\t%.4f\n", (now_us() - start) / CALLS);
  return 0;
}
