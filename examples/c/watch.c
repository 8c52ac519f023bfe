/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* watch PID: the memory of a process on the host and on each GPU, five times a second until it
 * exits, and the GPUs whose memory spilled to the host meanwhile. */
#include <hypomnesis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

enum { DEVICES = 64 };

static void print_size(const char* label, uint64_t bytes) {
  char text[32];
  if (hmn_format_bytes(bytes, text, sizeof text, NULL, NULL) == HMN_OK)
    printf("%s %s", label, text);
}

static void observe(const hmn_snapshot* snapshot, const char* label, hmn_spill** spills) {
  hmn_device device = HMN_INIT(hmn_device);
  for (uint32_t i = 0; hmn_snapshot_device_at(snapshot, i, &device, NULL) == HMN_OK; i++) {
    if (device.index >= DEVICES) continue;
    if (!spills[device.index])
      hmn_spill_create(NULL, device.index, NULL, &spills[device.index], NULL);
    /* A detector without values reports that at the end. */
    hmn_spill_observe_snapshot(spills[device.index], snapshot, label, NULL);
  }
}

/* One line. Reads all processes, because some drivers report evicted memory per process. */
static hmn_status sample(hmn_context* context, uint32_t pid, uint32_t number, hmn_spill** spills,
                         hmn_error* error) {
  hmn_snapshot_options options = HMN_INIT(hmn_snapshot_options);
  hmn_process_memory host = HMN_INIT(hmn_process_memory);
  hmn_usage usage = HMN_INIT(hmn_usage);
  hmn_snapshot* snapshot;
  char text[32];
  hmn_status status = hmn_process_memory_read(context, pid, 0, &host, error);

  options.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES;
  if (status == HMN_OK) status = hmn_snapshot_take(context, &options, &snapshot, error);
  if (status != HMN_OK) return status;
  if (host.present & HMN_PROCESS_MEMORY_HAS_RESIDENT)
    print_size("host", host.resident_bytes);
  else
    fputs("host not known", stdout);
  for (uint32_t i = 0; hmn_snapshot_usage_at(snapshot, i, &usage, NULL) == HMN_OK; i++) {
    snprintf(text, sizeof text, ", GPU %" PRIu32, usage.device_index);
    if (usage.pid == pid && usage.present & HMN_USAGE_HAS_USED) print_size(text, usage.used_bytes);
  }
  puts("");
  fflush(stdout);
  snprintf(text, sizeof text, "sample %" PRIu32, number);
  observe(snapshot, text, spills);
  hmn_snapshot_destroy(snapshot);
  return HMN_OK;
}

static void print_spill(hmn_spill* spill) {
  hmn_spill_info info = HMN_INIT(hmn_spill_info);

  if (hmn_spill_read(spill, &info, NULL) != HMN_OK) return;
  if (info.state & HMN_SPILL_STATE_EVER)
    printf("GPU %" PRIu32 ": spilled, first in %s\n", info.device_index, info.first_label);
  else if (info.state & HMN_SPILL_STATE_MEASURABLE)
    printf("GPU %" PRIu32 ": did not spill\n", info.device_index);
  else
    printf("GPU %" PRIu32 ": not known whether it spilled\n", info.device_index);
}

int main(int argc, char** argv) {
  const uint32_t pid = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
  const struct timespec pause = {.tv_nsec = 200000000};
  hmn_context_options options = HMN_INIT(hmn_context_options);
  hmn_error error = HMN_INIT(hmn_error);
  hmn_spill* spills[DEVICES] = {NULL};
  hmn_context* context;
  hmn_status status;
  uint32_t samples = 0;

  options.flags = HMN_CONTEXT_ENVIRONMENT;
  if (pid == 0) {
    fputs("usage: watch PID\n", stderr);
    return 2;
  }
  if (hmn_context_create(&options, &context, &error) != HMN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return EXIT_FAILURE;
  }
  while ((status = sample(context, pid, samples + 1, spills, &error)) == HMN_OK) {
    samples++;
    thrd_sleep(&pause, NULL);
  }
  if (samples == 0 || status != HMN_E_NO_PROCESS) puts(error.message);
  for (uint32_t i = 0; i < DEVICES; i++) {
    if (spills[i]) print_spill(spills[i]);
    hmn_spill_destroy(spills[i]);
  }
  hmn_context_destroy(context);
  return samples > 0 && status == HMN_E_NO_PROCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
