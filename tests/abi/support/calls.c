/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "calls.h"

enum { NAMED_PID = 4242 }; /* a process of machines/everything.json on device 0 */

hmn_status open_machine_with_options(const char* name, const hmn_context_options* options,
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
  const hmn_context_options options = patient_options(flags);
  return open_machine_with_options(name, &options, out);
}

hmn_snapshot* take_everything(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  options.collect = EVERYTHING;
  hmn_snapshot* snapshot = NULL;
  hmn_snapshot_take(context, &options, &snapshot, NULL);
  return snapshot;
}

int fixture_open(fixture* f, hmn_flags flags) {
  return fixture_open_machine(f, "everything.json", flags);
}

/* Stopped after its first snapshot. */
static hmn_sampler* sample_everything(hmn_context* context) {
  NEW(hmn_snapshot_options, options);
  options.collect = EVERYTHING;
  hmn_sampler* sampler = NULL;
  hmn_snapshot* first = NULL;
  if (hmn_sampler_create(context, NULL, &options, &sampler, NULL) != HMN_OK) return NULL;
  if (hmn_sampler_start(sampler, NULL) == HMN_OK) {
    hmn_sampler_next(sampler, HMN_MILLISECONDS(PATIENT_MS), &first, NULL);
    hmn_sampler_stop(sampler, NULL);
  }
  hmn_snapshot_destroy(first);
  return sampler;
}

static hmn_tracker* track_device(hmn_context* context) {
  hmn_tracker* tracker = NULL;
  uint32_t tag = 0;
  if (hmn_tracker_create(context, 0, NULL, &tracker, NULL) != HMN_OK) return NULL;
  if (hmn_tracker_tag(tracker, "tag", &tag, NULL) == HMN_OK) return tracker;
  hmn_tracker_destroy(tracker);
  return NULL;
}

int fixture_open_machine(fixture* f, const char* name, hmn_flags flags) {
  memset(f, 0, sizeof *f);
  if (open_machine(name, flags, &f->context) != HMN_OK) return -1;
  f->before = take_everything(f->context);
  f->after = take_everything(f->context);
  f->sampler = sample_everything(f->context);
  f->tracker = track_device(f->context);
  return f->before != NULL && f->after != NULL && f->sampler != NULL && f->tracker != NULL ? 0 : -1;
}

void fixture_close(fixture* f) {
  hmn_snapshot_destroy(f->before);
  hmn_snapshot_destroy(f->after);
  hmn_sampler_destroy(f->sampler);
  hmn_tracker_destroy(f->tracker);
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
    return hmn_##name(f->after, __VA_ARGS__ out, error);                        \
  }
#define SAMPLER_CALL(name, ...)                                                 \
  static hmn_status run_##name(const fixture* f, void* out, hmn_error* error) { \
    return hmn_##name(f->sampler, __VA_ARGS__ out, error);                      \
  }
#define TRACKER_CALL(name, ...)                                                 \
  static hmn_status run_##name(const fixture* f, void* out, hmn_error* error) { \
    return hmn_##name(f->tracker, __VA_ARGS__ out, error);                      \
  }
#define COMMA ,

CONTEXT_CALL(context_backend, HMN_BACKEND_OS COMMA)
CONTEXT_CALL(process_memory_read, NAMED_PID COMMA 0 COMMA)
CONTEXT_CALL(process_memory_read_self, 0 COMMA)
CONTEXT_CALL(system_memory_read, 0 COMMA)
CONTEXT_CALL(device_read, 0 COMMA 0 COMMA)
CONTEXT_CALL(pool_read, 0 COMMA HMN_POOL_MAIN COMMA 0 COMMA 0 COMMA)
CONTEXT_CALL(telemetry_read, 0 COMMA 0 COMMA)
static const hmn_metric_key core_temperature = {sizeof core_temperature, HMN_METRIC_TEMPERATURE,
                                                HMN_SENSOR_CORE, 0};
static const hmn_reason_key pools_missing = {.struct_size = sizeof pools_missing,
                                             .subject = HMN_COLLECT_POOLS};
CONTEXT_CALL(metric_read, 0 COMMA& core_temperature COMMA 0 COMMA)
CONTEXT_CALL(usage_read, 0 COMMA NAMED_PID COMMA 0 COMMA)
CONTEXT_CALL(usage_read_self, 0 COMMA 0 COMMA)
SNAPSHOT_CALL(snapshot_read, )
SNAPSHOT_CALL(snapshot_memory, )
SNAPSHOT_CALL(snapshot_system, )
SNAPSHOT_CALL(snapshot_device_at, 0 COMMA)
SNAPSHOT_CALL(snapshot_find_telemetry, 0 COMMA)
SNAPSHOT_CALL(snapshot_find_self, 0 COMMA)
SNAPSHOT_CALL(snapshot_find_pool, 0 COMMA HMN_POOL_MAIN COMMA 0 COMMA)
SNAPSHOT_CALL(snapshot_pool_at, 0 COMMA)
SNAPSHOT_CALL(snapshot_usage_at, 0 COMMA)
SNAPSHOT_CALL(snapshot_metric_at, 0 COMMA)
SNAPSHOT_CALL(snapshot_group_at, 0 COMMA)
SNAPSHOT_CALL(snapshot_reason, &pools_missing COMMA)
SNAPSHOT_CALL(snapshot_diagnostic_at, 0 COMMA)
SAMPLER_CALL(sampler_read, )
SAMPLER_CALL(sampler_latest_pool, 0 COMMA)
SAMPLER_CALL(sampler_latest_telemetry, 0 COMMA)
SAMPLER_CALL(sampler_peak, 0 COMMA NAMED_PID COMMA)
SAMPLER_CALL(sampler_peak_device, 0 COMMA)
TRACKER_CALL(tracker_read, )
TRACKER_CALL(tracker_read_tag, 1 COMMA)

static hmn_status run_delta_read(const fixture* f, void* out, hmn_error* error) {
  return hmn_delta_read(f->before, f->after, 0, out, error);
}

static hmn_status run_device_scan(const fixture* f, void* out, hmn_error* error) {
  return hmn_device_scan(f->context, NULL, out, error);
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

/* A detector with an episode, or NULL with the status of the call that failed. */
static hmn_spill* make_spilled(hmn_error* error, hmn_status* status) {
  hmn_spill* spill = NULL;
  NEW(hmn_spill_sample, sample);
  *status = hmn_spill_create(NULL, 0, NULL, &spill, error);
  for (int i = 0; *status == HMN_OK && i < 2; ++i) {
    sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
    sample.evicted_bytes = (uint64_t)i << 30;
    *status = hmn_spill_feed(spill, &sample, "label", error);
  }
  if (*status == HMN_OK) return spill;
  hmn_spill_destroy(spill);
  return NULL;
}

static hmn_status run_spill_read(const fixture* f, void* out, hmn_error* error) {
  hmn_status status;
  if (f->after == NULL) return hmn_spill_read(NULL, out, error);
  hmn_spill* spill = make_spilled(error, &status);
  const hmn_status read_status = hmn_spill_read(spill, out, status == HMN_OK ? error : NULL);
  hmn_spill_destroy(spill);
  return status == HMN_OK ? read_status : status;
}

static hmn_status run_spill_episode(const fixture* f, void* out, hmn_error* error) {
  hmn_status status;
  if (f->after == NULL) return hmn_spill_episode(NULL, 0, out, error);
  hmn_spill* spill = make_spilled(error, &status);
  const hmn_status read_status = hmn_spill_episode(spill, 0, out, status == HMN_OK ? error : NULL);
  hmn_spill_destroy(spill);
  return status == HMN_OK ? read_status : status;
}

#define ROW(name, size, takes_context) \
  { "hmn_" #name, size, size, takes_context, 0, run_##name }
#define SIZED_ROW(name, noun, type, takes_context) \
  { "hmn_" #name, HMN_##noun##_SIZE_V1, sizeof(type), takes_context, 0, run_##name }
#define SAMPLER_ROW(name, size, type) \
  { "hmn_" #name, size, sizeof(type), 0, 1, run_##name }
const call calls[] = {
    ROW(context_backend, HMN_BACKEND_INFO_SIZE_V1, 1),
    ROW(process_memory_read, HMN_PROCESS_MEMORY_SIZE_V1, 1),
    ROW(process_memory_read_self, HMN_PROCESS_MEMORY_SIZE_V1, 1),
    SIZED_ROW(system_memory_read, SYSTEM_MEMORY, hmn_system_memory, 1),
    SIZED_ROW(device_read, DEVICE, hmn_device, 1),
    SIZED_ROW(pool_read, POOL, hmn_pool, 1),
    SIZED_ROW(telemetry_read, TELEMETRY, hmn_telemetry, 1),
    SIZED_ROW(metric_read, METRIC, hmn_metric, 1),
    SIZED_ROW(usage_read, USAGE, hmn_usage, 1),
    SIZED_ROW(usage_read_self, USAGE, hmn_usage, 1),
    ROW(device_scan, 0, 1),
    ROW(device_find, 0, 1),
    ROW(snapshot_take, 0, 1),
    ROW(snapshot_read, HMN_SNAPSHOT_INFO_SIZE_V1, 0),
    ROW(snapshot_memory, HMN_PROCESS_MEMORY_SIZE_V1, 0),
    SIZED_ROW(snapshot_system, SYSTEM_MEMORY, hmn_system_memory, 0),
    SIZED_ROW(snapshot_device_at, DEVICE, hmn_device, 0),
    SIZED_ROW(snapshot_find_telemetry, TELEMETRY, hmn_telemetry, 0),
    SIZED_ROW(snapshot_find_self, USAGE, hmn_usage, 0),
    SIZED_ROW(snapshot_find_pool, POOL, hmn_pool, 0),
    SIZED_ROW(snapshot_pool_at, POOL, hmn_pool, 0),
    SIZED_ROW(snapshot_usage_at, USAGE, hmn_usage, 0),
    SIZED_ROW(snapshot_metric_at, METRIC, hmn_metric, 0),
    SIZED_ROW(snapshot_group_at, GROUP, hmn_group, 0),
    SIZED_ROW(snapshot_reason, DIAGNOSTIC, hmn_diagnostic, 0),
    ROW(snapshot_diagnostic_at, HMN_DIAGNOSTIC_SIZE_V1, 0),
    ROW(delta_read, HMN_DELTA_SIZE_V1, 0),
    ROW(tracker_read, HMN_TRACKER_INFO_SIZE_V1, 0),
    ROW(tracker_read_tag, HMN_TAG_SIZE_V1, 0),
    ROW(spill_read, HMN_SPILL_INFO_SIZE_V1, 0),
    ROW(spill_episode, HMN_EPISODE_SIZE_V1, 0),
    SAMPLER_ROW(sampler_read, HMN_SAMPLER_INFO_SIZE_V1, hmn_sampler_info),
    SAMPLER_ROW(sampler_latest_pool, HMN_POOL_SIZE_V1, hmn_pool),
    SAMPLER_ROW(sampler_latest_telemetry, HMN_TELEMETRY_SIZE_V1, hmn_telemetry),
    SAMPLER_ROW(sampler_peak, HMN_PEAK_SIZE_V1, hmn_peak),
    SAMPLER_ROW(sampler_peak_device, HMN_PEAK_SIZE_V1, hmn_peak),
};
const size_t call_count = sizeof calls / sizeof calls[0];

#define TEXT_CALL(name, ...)                                                      \
  static hmn_status run_##name(const fixture* f, char* buffer, uint32_t capacity, \
                               uint32_t* needed, hmn_error* error) {              \
    return hmn_##name(__VA_ARGS__, buffer, capacity, needed, error);              \
  }
TEXT_CALL(snapshot_text_at, f->after, HMN_TEXT_PROCESS_NAME, 0)
TEXT_CALL(report_delta, f->before, f->after, 0, "label", 0)
TEXT_CALL(report_before_after, f->before, f->after, 0, "label", 0)
TEXT_CALL(format_device, f->after, 0, HMN_FORMAT_FREE, 0)
TEXT_CALL(format_json, f->after, 0)

static hmn_status run_format_bytes(const fixture* f, char* buffer, uint32_t capacity,
                                   uint32_t* needed, hmn_error* error) {
  (void)f;
  return hmn_format_bytes(8804682957, buffer, capacity, needed, error);
}

/* The fixture's context reads a simulated machine, which is not recorded. */
static hmn_status run_context_recording(const fixture* f, char* buffer, uint32_t capacity,
                                        uint32_t* needed, hmn_error* error) {
  hmn_context_options options = {.struct_size = sizeof options};
  hmn_context* context = NULL;
  (void)f;
  options.flags = HMN_CONTEXT_RECORD | HMN_CONTEXT_NO_THREADS;
  hmn_status status = hmn_context_create(&options, &context, error);
  if (status == HMN_OK) {
    status = hmn_context_recording(context, 0, buffer, capacity, needed, error);
  } else if (needed != NULL) {
    *needed = 0; /* no call has written it */
  }
  hmn_context_destroy(context);
  return status;
}

const text_call text_calls[] = {
    {"hmn_context_recording", run_context_recording},
    {"hmn_snapshot_text_at", run_snapshot_text_at},
    {"hmn_report_delta", run_report_delta},
    {"hmn_report_before_after", run_report_before_after},
    {"hmn_format_device", run_format_device},
    {"hmn_format_json", run_format_json},
    {"hmn_format_bytes", run_format_bytes},
};
const size_t text_call_count = sizeof text_calls / sizeof text_calls[0];

void run_everything(const fixture* f) {
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) calls[i].run(f, guard_arm(g, calls[i].size_v1), NULL);
  for (size_t i = 0; i < text_call_count; ++i) {
    text_calls[i].run(f, (char*)g->bytes, sizeof g->bytes, NULL, NULL);
  }
  free(g);
}

int reads_sampler_results(const call* c) {
  return strncmp(c->name, "hmn_sampler_", 12) == 0 && strcmp(c->name, "hmn_sampler_read") != 0;
}
