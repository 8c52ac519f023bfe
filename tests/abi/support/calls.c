/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "calls.h"

enum { NAMED_PID = 4242 }; /* a process of machines/everything.json on device 0 */

hmn_status open_machine_with(const char* name, const hmn_context_options* options,
                             hmn_context** out) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", HMN_TEST_MACHINES, name);
  hmn_status status = hmn_context_create(options, out, NULL);
  if (status != HMN_OK) return status;
  status = hmn_context_set_path(*out, HMN_PATH_SIMULATION, path, NULL);
  if (status != HMN_OK) {
    hmn_context_destroy(*out);
    *out = NULL;
  }
  return status;
}

hmn_status open_machine(const char* name, hmn_flags flags, hmn_context** out) {
  const hmn_context_options options = patient(flags);
  return open_machine_with(name, &options, out);
}

hmn_snapshot* take_everything(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  options.collect = EVERYTHING;
  hmn_snapshot* snapshot = NULL;
  hmn_snapshot_take(context, &options, &snapshot, NULL);
  return snapshot;
}

int fixture_open(fixture* f, hmn_flags flags) {
  return fixture_open_on(f, "everything.json", flags);
}

int fixture_open_on(fixture* f, const char* name, hmn_flags flags) {
  memset(f, 0, sizeof *f);
  if (open_machine(name, flags, &f->context) != HMN_OK) return -1;
  f->before = take_everything(f->context);
  f->after = take_everything(f->context);
  return f->before != NULL && f->after != NULL ? 0 : -1;
}

void fixture_close(fixture* f) {
  hmn_snapshot_destroy(f->before);
  hmn_snapshot_destroy(f->after);
  hmn_context_destroy(f->context);
}

int fixture_setup(void** state) {
  fixture* f = malloc(sizeof *f);
  *state = f;
  return f == NULL ? -1 : fixture_open(f, 0);
}

int fixture_teardown(void** state) {
  fixture_close(*state);
  free(*state);
  return 0;
}

#define CONTEXT_CALL(name, ...)                                                 \
  static hmn_status run_##name(const fixture* f, void* out, hmn_error* error) { \
    return hmn_##name(f->context, __VA_ARGS__ out, error);                      \
  }
#define SNAPSHOT_CALL(name, ...)                                                \
  static hmn_status run_##name(const fixture* f, void* out, hmn_error* error) { \
    (void)error;                                                                \
    return hmn_##name(f->after, __VA_ARGS__ out);                               \
  }
#define COMMA ,

CONTEXT_CALL(context_backend, HMN_BACKEND_OS COMMA)
CONTEXT_CALL(process_memory_read, NAMED_PID COMMA 0 COMMA)
CONTEXT_CALL(process_memory_read_self, 0 COMMA)
CONTEXT_CALL(system_memory_read, )
CONTEXT_CALL(device_read, 0 COMMA)
CONTEXT_CALL(pool_read, 0 COMMA HMN_POOL_MAIN COMMA)
CONTEXT_CALL(telemetry_read, 0 COMMA 0 COMMA)
CONTEXT_CALL(usage_read, 0 COMMA NAMED_PID COMMA)
CONTEXT_CALL(usage_read_self, 0 COMMA)
SNAPSHOT_CALL(snapshot_read, )
SNAPSHOT_CALL(snapshot_memory, )
SNAPSHOT_CALL(snapshot_system, )
SNAPSHOT_CALL(snapshot_device, 0 COMMA)
SNAPSHOT_CALL(snapshot_telemetry, 0 COMMA)
SNAPSHOT_CALL(snapshot_self, 0 COMMA)
SNAPSHOT_CALL(snapshot_pool, 0 COMMA)
SNAPSHOT_CALL(snapshot_usage, 0 COMMA)
SNAPSHOT_CALL(snapshot_diagnostic, 0 COMMA)

static hmn_status run_report_read(const fixture* f, void* out, hmn_error* error) {
  (void)error;
  return hmn_report_read(f->before, f->after, 0, out);
}

static hmn_status run_device_count(const fixture* f, void* out, hmn_error* error) {
  return hmn_device_count(f->context, out, error);
}

static hmn_status run_device_find(const fixture* f, void* out, hmn_error* error) {
  return hmn_device_find(f->context, "pci:0000:01:00.0", out, error);
}

static hmn_status run_snapshot_take(const fixture* f, void* out, hmn_error* error) {
  hmn_snapshot* snapshot = NULL;
  const hmn_status status = hmn_snapshot_take(f->context, NULL, &snapshot, error);
  hmn_snapshot_destroy(snapshot);
  (void)out;
  return status;
}

#define ROW(name, size, of_context) \
  { "hmn_" #name, size, of_context, run_##name }
const call calls[] = {
    ROW(context_backend, HMN_BACKEND_INFO_SIZE_V1, 1),
    ROW(process_memory_read, HMN_PROCESS_MEMORY_SIZE_V1, 1),
    ROW(process_memory_read_self, HMN_PROCESS_MEMORY_SIZE_V1, 1),
    ROW(system_memory_read, HMN_SYSTEM_MEMORY_SIZE_V1, 1),
    ROW(device_read, HMN_DEVICE_SIZE_V1, 1),
    ROW(pool_read, HMN_POOL_SIZE_V1, 1),
    ROW(telemetry_read, HMN_TELEMETRY_SIZE_V1, 1),
    ROW(usage_read, HMN_USAGE_SIZE_V1, 1),
    ROW(usage_read_self, HMN_USAGE_SIZE_V1, 1),
    ROW(device_count, 0, 1),
    ROW(device_find, 0, 1),
    ROW(snapshot_take, 0, 1),
    ROW(snapshot_read, HMN_SNAPSHOT_INFO_SIZE_V1, 0),
    ROW(snapshot_memory, HMN_PROCESS_MEMORY_SIZE_V1, 0),
    ROW(snapshot_system, HMN_SYSTEM_MEMORY_SIZE_V1, 0),
    ROW(snapshot_device, HMN_DEVICE_SIZE_V1, 0),
    ROW(snapshot_telemetry, HMN_TELEMETRY_SIZE_V1, 0),
    ROW(snapshot_self, HMN_USAGE_SIZE_V1, 0),
    ROW(snapshot_pool, HMN_POOL_SIZE_V1, 0),
    ROW(snapshot_usage, HMN_USAGE_SIZE_V1, 0),
    ROW(snapshot_diagnostic, HMN_DIAGNOSTIC_SIZE_V1, 0),
    ROW(report_read, HMN_DELTA_SIZE_V1, 0),
};
const size_t call_count = sizeof calls / sizeof calls[0];

#define TEXT_CALL(name, ...)                                                      \
  static hmn_status run_##name(const fixture* f, char* buffer, uint32_t capacity, \
                               uint32_t* needed) {                                \
    return hmn_##name(__VA_ARGS__, buffer, capacity, needed);                     \
  }
TEXT_CALL(snapshot_text, f->after, HMN_TEXT_PROCESS_NAME, 0)
TEXT_CALL(report_delta, f->before, f->after, 0, "label")
TEXT_CALL(report_before_after, f->before, f->after, 0, "label")
TEXT_CALL(format_device, f->after, 0, HMN_FORMAT_FREE)
TEXT_CALL(format_json, f->after)

static hmn_status run_format_bytes(const fixture* f, char* buffer, uint32_t capacity,
                                   uint32_t* needed) {
  (void)f;
  return hmn_format_bytes(8804682957, buffer, capacity, needed);
}

const text_call text_calls[] = {
    {"hmn_snapshot_text", run_snapshot_text},
    {"hmn_report_delta", run_report_delta},
    {"hmn_report_before_after", run_report_before_after},
    {"hmn_format_device", run_format_device},
    {"hmn_format_json", run_format_json},
    {"hmn_format_bytes", run_format_bytes},
};
const size_t text_call_count = sizeof text_calls / sizeof text_calls[0];
