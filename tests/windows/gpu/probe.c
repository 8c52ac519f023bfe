/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * probe READINGS BACKENDS_OFF DEADLINE_MS [NAME=VALUE...]: takes snapshots one after the other, as
 * many again once the variables are set, and prints the last as JSON; then, a line each, how the
 * sources of Windows do. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>

static int take_last(hmn_context* context, int readings, hmn_snapshot** taken) {
  hmn_snapshot_options what = {0};
  int i;
  what.struct_size = sizeof what;
  what.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_SELF |
                 HMN_COLLECT_PROCESSES | HMN_COLLECT_TELEMETRY;
  for (i = 0; i < readings; ++i) {
    hmn_snapshot_destroy(*taken);
    if (hmn_snapshot_take(context, &what, taken, NULL) != HMN_OK) return 2;
  }
  return 0;
}

static int print(const hmn_snapshot* taken) {
  uint32_t needed = 0;
  char* text;
  if (hmn_format_json(taken, 0, NULL, 0, &needed, NULL) != HMN_OK) return 3;
  text = malloc(needed);
  if (text == NULL || hmn_format_json(taken, 0, text, needed, &needed, NULL) != HMN_OK) return 4;
  puts(text);
  free(text);
  return 0;
}

static void print_source(hmn_context* context, uint32_t backend) {
  hmn_backend_info info = {0};
  info.struct_size = sizeof info;
  if (hmn_context_backend(context, backend, &info, NULL) != HMN_OK) return;
  printf("%s %u %u %d %s\n", hmn_backend_name(backend), (unsigned)info.state,
         (unsigned)info.native_domain, (int)info.native_code, info.message);
}

int main(int count, char** arguments) {
  hmn_context_options options = {0};
  hmn_context* context = NULL;
  hmn_snapshot* taken = NULL;
  const int readings = count > 1 ? atoi(arguments[1]) : 1;
  int outcome, i;
  options.struct_size = sizeof options;
  options.flags = HMN_CONTEXT_ENVIRONMENT;
  options.backends_off = count > 2 ? strtoull(arguments[2], NULL, 0) : 0;
  options.deadline_ns =
      HMN_MILLISECONDS(count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 0) : 20000);
  if (hmn_context_create(&options, &context, NULL) != HMN_OK) return 1;
  outcome = take_last(context, readings, &taken);
  for (i = 4; i < count; ++i) _putenv(arguments[i]);
  if (outcome == 0 && count > 4) outcome = take_last(context, readings, &taken);
  if (outcome == 0) outcome = print(taken);
  hmn_snapshot_destroy(taken);
  print_source(context, HMN_BACKEND_NVML);
  print_source(context, HMN_BACKEND_NVIDIA_SMI);
  print_source(context, HMN_BACKEND_DXGI);
  print_source(context, HMN_BACKEND_PDH);
  hmn_context_destroy(context);
  return outcome;
}
