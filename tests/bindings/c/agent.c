/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers the requests of ../behaviour.py through the C interface alone. */
#define _POSIX_C_SOURCE 200809L
#include <hypomnesis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum { MAX_WORDS = 9, MAX_SNAPSHOTS = 64, NAME_SIZE = 32, LINE_SIZE = 8192 };

static char* words[MAX_WORDS];
static hmn_context* context;
static struct slot {
  char name[NAME_SIZE];
  hmn_snapshot* snapshot;
} snapshots[MAX_SNAPSHOTS];

static uint32_t u32(int i) {
  return (uint32_t)strtoul(words[i], NULL, 10);
}

static void write_text(const char* key, const char* text) {
  printf("%s\t\"", key);
  for (; *text; ++text) {
    switch (*text) {
      case '\t':
        fputs("\\t", stdout);
        break;
      case '\n':
        fputs("\\n", stdout);
        break;
      case '\r':
        fputs("\\r", stdout);
        break;
      case '\\':
        fputs("\\\\", stdout);
        break;
      default:
        putchar(*text);
    }
  }
  putchar('\n');
}

static void write_number(uint64_t value) {
  printf("value\t%" PRIu64 "\n", value);
}

static void write_null(void) {
  puts("value\tnull");
}

static void write_closed(void) {
  puts("error\tclosed");
}

static void write_failure(hmn_status status, const char* message) {
  printf("error\t%s\n", hmn_status_name(status));
  write_text("message", message);
}

static void write_field(const struct field* field, const char* bytes) {
  uint32_t u32_value;
  uint64_t u64_value;
  double f64_value;
  if (field->kind == TEXT) {
    write_text(field->name, bytes);
    return;
  }
  printf("%s\t", field->name);
  memcpy(&u32_value, bytes, sizeof u32_value);
  if (field->kind == U32) printf("%" PRIu32 "\n", u32_value);
  if (field->kind == I32) printf("%" PRId32 "\n", (int32_t)u32_value);
  if (field->kind == U32 || field->kind == I32) return;
  memcpy(&u64_value, bytes, sizeof u64_value);
  memcpy(&f64_value, bytes, sizeof f64_value);
  if (field->kind == U64) printf("%" PRIu64 "\n", u64_value);
  if (field->kind == I64) printf("%" PRId64 "\n", (int64_t)u64_value);
  if (field->kind == F64) printf("%.17g\n", f64_value);
}

/* Every result starts with struct_size, notes and present. */
static void write_record(const struct field* fields, const void* record) {
  hmn_fields present;
  memcpy(&present, (const char*)record + 2 * sizeof(uint32_t), sizeof present);
  for (; fields->name; ++fields) {
    if (fields->bit && !(present & fields->bit))
      printf("%s\tnull\n", fields->name);
    else
      write_field(fields, (const char*)record + fields->offset);
  }
}

/* ---- readings of the context ---- */

#define READ(record, CALL)                        \
  do {                                            \
    hmn_##record out;                             \
    hmn_error error;                              \
    out.struct_size = sizeof out;                 \
    error.struct_size = sizeof error;             \
    if (!context)                                 \
      write_closed();                             \
    else if ((CALL) == HMN_OK)                    \
      write_record(record##_fields, &out);        \
    else                                          \
      write_failure(error.status, error.message); \
  } while (0)

static void do_backend(void) {
  READ(backend_info, hmn_context_backend(context, u32(1), &out, &error));
}
static void do_own_memory(void) {
  READ(process_memory, hmn_process_memory_read_self(context, u32(1), &out, &error));
}
static void do_process_memory(void) {
  READ(process_memory, hmn_process_memory_read(context, u32(1), u32(2), &out, &error));
}
static void do_system_memory(void) {
  READ(system_memory, hmn_system_memory_read(context, 0, &out, &error));
}
static void do_device(void) {
  READ(device, hmn_device_read(context, u32(1), 0, &out, &error));
}
static void do_pool(void) {
  READ(pool, hmn_pool_read(context, u32(1), u32(2), 0, 0, &out, &error));
}
static void do_telemetry(void) {
  READ(telemetry, hmn_telemetry_read(context, u32(1), u32(2), &out, &error));
}
static void do_metric(void) {
  hmn_metric_key key = HMN_INIT(hmn_metric_key);
  key.id = u32(2);
  key.instance = u32(3);
  READ(metric, hmn_metric_read(context, u32(1), &key, 0, &out, &error));
}
static void do_usage(void) {
  READ(usage, hmn_usage_read(context, u32(1), u32(2), 0, &out, &error));
}
static void do_own_usage(void) {
  READ(usage, hmn_usage_read_self(context, u32(1), 0, &out, &error));
}

static void write_count(hmn_status status, uint64_t count, const hmn_error* error) {
  if (!context)
    write_closed();
  else if (status == HMN_OK)
    write_number(count);
  else
    write_failure(status, error->message);
}

static void do_scan(void) {
  uint32_t count = 0;
  hmn_error error = {.struct_size = sizeof error};
  const hmn_status status = hmn_device_scan(context, &count, NULL, &error);
  write_count(status, count, &error);
}

static void do_scan_generation(void) {
  uint64_t generation = 0;
  hmn_error error = {.struct_size = sizeof error};
  const hmn_status status = hmn_device_scan(context, NULL, &generation, &error);
  write_count(status, generation, &error);
}

static void do_find_device(void) {
  uint32_t index = 0;
  hmn_error error = {.struct_size = sizeof error};
  const hmn_status status = hmn_device_find(context, words[1], &index, &error);
  write_count(status, index, &error);
}

/* ---- contexts ---- */

static hmn_status set_path(uint32_t path, const char* word, hmn_error* error) {
  return hmn_context_set_path(context, path, strcmp(word, "-") == 0 ? NULL : word, error);
}

static void do_close(void) {
  hmn_context_destroy(context);
  context = NULL;
}

static void do_open(void) {
  hmn_context_options options = {.struct_size = sizeof options};
  hmn_error error = {.struct_size = sizeof error};
  hmn_status status;
  do_close();
  options.flags = u32(1);
  options.deadline_ns = HMN_MILLISECONDS(u32(2));
  options.max_age_ns = HMN_MILLISECONDS(u32(3));
  status = hmn_context_create(&options, &context, &error);
  if (status == HMN_OK && strcmp(words[4], "-") != 0) {
    status = set_path(HMN_PATH_SIMULATION, words[4], &error);
  }
  if (status != HMN_OK) write_failure(status, error.message);
}

static void do_set_path(void) {
  hmn_error error = {.struct_size = sizeof error};
  if (!context)
    write_closed();
  else if (set_path(u32(1), words[2], &error) != HMN_OK)
    write_failure(error.status, error.message);
}

/* ---- snapshots ---- */

static struct slot* find_slot(const char* name) {
  struct slot* free_slot = NULL;
  for (int i = MAX_SNAPSHOTS - 1; i >= 0; --i) {
    struct slot* slot = &snapshots[i];
    if (strcmp(slot->name, name) == 0) return slot;
    if (!slot->snapshot) free_slot = slot;
  }
  if (!free_slot) abort();
  snprintf(free_slot->name, sizeof free_slot->name, "%s", name);
  return free_slot;
}

static hmn_snapshot* find_snapshot(int word) {
  return find_slot(words[word])->snapshot;
}

static void do_drop(void) {
  struct slot* slot = find_slot(words[1]);
  hmn_snapshot_destroy(slot->snapshot);
  slot->snapshot = NULL;
}

static void do_take(void) {
  hmn_snapshot_options options = {.struct_size = sizeof options};
  hmn_error error = {.struct_size = sizeof error};
  if (!context) {
    write_closed();
    return;
  }
  options.flags = u32(2);
  options.collect = u32(3);
  options.device_index = u32(4);
  options.pid = u32(5);
  do_drop();
  if (hmn_snapshot_take(context, &options, &find_slot(words[1])->snapshot, &error) != HMN_OK) {
    write_failure(error.status, error.message);
  }
}

static void write_refusal(const hmn_error* error) {
  if (error->status == HMN_E_EMPTY)
    write_null();
  else
    write_failure(error->status, error->message);
}

#define READ_SNAPSHOT(record, CALL)            \
  do {                                         \
    hmn_##record out;                          \
    hmn_error error;                           \
    hmn_snapshot* snapshot = find_snapshot(1); \
    if (!snapshot) {                           \
      write_closed();                          \
      break;                                   \
    }                                          \
    out.struct_size = sizeof out;              \
    error.struct_size = sizeof error;          \
    if ((CALL) == HMN_OK)                      \
      write_record(record##_fields, &out);     \
    else                                       \
      write_refusal(&error);                   \
  } while (0)

static void do_info(void) {
  READ_SNAPSHOT(snapshot_info, hmn_snapshot_read(snapshot, &out, &error));
}
static void do_memory(void) {
  READ_SNAPSHOT(process_memory, hmn_snapshot_memory(snapshot, &out, &error));
}
static void do_system(void) {
  READ_SNAPSHOT(system_memory, hmn_snapshot_system(snapshot, &out, &error));
}
static void do_snapshot_device(void) {
  READ_SNAPSHOT(device, hmn_snapshot_device_at(snapshot, u32(2), &out, &error));
}
/* Cases name the device of a snapshot by its position, as languages with lists do. */
static hmn_status read_index(const hmn_snapshot* snapshot, uint32_t position, uint32_t* index,
                             hmn_error* error) {
  hmn_device device = {.struct_size = sizeof device};
  const hmn_status status = hmn_snapshot_device_at(snapshot, position, &device, error);
  *index = device.index;
  return status;
}
static hmn_status read_telemetry(const hmn_snapshot* snapshot, uint32_t position,
                                 hmn_telemetry* out, hmn_error* error) {
  uint32_t index = 0;
  const hmn_status status = read_index(snapshot, position, &index, error);
  return status == HMN_OK ? hmn_snapshot_find_telemetry(snapshot, index, out, error) : status;
}
static hmn_status read_self(const hmn_snapshot* snapshot, uint32_t position, hmn_usage* out,
                            hmn_error* error) {
  uint32_t index = 0;
  const hmn_status status = read_index(snapshot, position, &index, error);
  return status == HMN_OK ? hmn_snapshot_find_self(snapshot, index, out, error) : status;
}
static void do_snapshot_telemetry(void) {
  READ_SNAPSHOT(telemetry, read_telemetry(snapshot, u32(2), &out, &error));
}
static void do_self(void) {
  READ_SNAPSHOT(usage, read_self(snapshot, u32(2), &out, &error));
}
static void do_snapshot_pool(void) {
  READ_SNAPSHOT(pool, hmn_snapshot_pool_at(snapshot, u32(2), &out, &error));
}
static void do_snapshot_usage(void) {
  READ_SNAPSHOT(usage, hmn_snapshot_usage_at(snapshot, u32(2), &out, &error));
}
static void do_snapshot_metric(void) {
  READ_SNAPSHOT(metric, hmn_snapshot_metric_at(snapshot, u32(2), &out, &error));
}
static void do_snapshot_group(void) {
  READ_SNAPSHOT(group, hmn_snapshot_group_at(snapshot, u32(2), &out, &error));
}
static void do_diagnostic(void) {
  READ_SNAPSHOT(diagnostic, hmn_snapshot_diagnostic_at(snapshot, u32(2), &out, &error));
}
static void do_reason(void) {
  hmn_reason_key key = HMN_INIT(hmn_reason_key);
  key.device_index = u32(2);
  key.subject = u32(3);
  key.field = u32(4);
  key.metric = u32(5);
  key.metric_instance = u32(6);
  key.pool = u32(7);
  key.pid = u32(8);
  READ_SNAPSHOT(diagnostic, hmn_snapshot_reason(snapshot, &key, &out, &error));
}
static void do_delta(void) {
  const hmn_snapshot* after = find_snapshot(2);
  if (!after)
    write_closed();
  else
    READ_SNAPSHOT(delta, hmn_delta_read(snapshot, after, u32(3), &out, &error));
}

/* ---- the sampler; at most one exists ---- */

static hmn_sampler* sampler;

static void do_sample_drop(void) {
  hmn_sampler_destroy(sampler);
  sampler = NULL;
}

static void do_sample_idle(void) {
  const hmn_sampler_options options = {.struct_size = sizeof options,
                                       .interval_ns = HMN_MILLISECONDS(3600000)};
  hmn_snapshot_options snapshot_options = {.struct_size = sizeof snapshot_options};
  hmn_error error = {.struct_size = sizeof error};
  if (!context) {
    write_closed();
    return;
  }
  snapshot_options.collect = u32(2);
  do_sample_drop();
  if (hmn_sampler_create(context, &options, &snapshot_options, &sampler, &error) != HMN_OK)
    write_failure(error.status, error.message);
}

static void do_sample(void) {
  hmn_error error = {.struct_size = sizeof error};
  do_sample_idle();
  if (sampler && hmn_sampler_start(sampler, &error) != HMN_OK)
    write_failure(error.status, error.message);
}

/* Whether no snapshot follows because the sampler was stopped. */
static int is_stopped(void) {
  hmn_sampler_info info = {.struct_size = sizeof info};
  return hmn_sampler_read(sampler, &info, NULL) == HMN_OK &&
         info.state == HMN_SAMPLER_STATE_STOPPED;
}

static void do_sample_next(void) {
  hmn_error error = {.struct_size = sizeof error};
  hmn_snapshot* snapshot = NULL;
  if (!sampler) {
    write_closed();
    return;
  }
  hmn_sampler_next(sampler, HMN_MILLISECONDS(u32(3)), &snapshot, &error);
  if (error.status == HMN_E_EMPTY) {
    write_text("value", "timeout");
  } else if (error.status == HMN_E_STATE && is_stopped()) {
    write_text("value", "end");
  } else if (error.status != HMN_OK) {
    write_failure(error.status, error.message);
  } else {
    struct slot* slot = find_slot(words[2]);
    hmn_snapshot_destroy(slot->snapshot);
    slot->snapshot = snapshot;
    write_text("value", "sample");
  }
}

static void do_sample_stop(void) {
  hmn_error error = {.struct_size = sizeof error};
  if (!sampler)
    write_closed();
  else if (hmn_sampler_stop(sampler, &error) != HMN_OK)
    write_failure(error.status, error.message);
}

#define READ_SAMPLER(record, CALL)         \
  do {                                     \
    hmn_##record out;                      \
    hmn_error error;                       \
    if (!sampler) {                        \
      write_closed();                      \
      break;                               \
    }                                      \
    out.struct_size = sizeof out;          \
    error.struct_size = sizeof error;      \
    if ((CALL) == HMN_OK)                  \
      write_record(record##_fields, &out); \
    else                                   \
      write_refusal(&error);               \
  } while (0)

static void do_sample_info(void) {
  READ_SAMPLER(sampler_info, hmn_sampler_read(sampler, &out, &error));
}
static void do_sample_pool(void) {
  READ_SAMPLER(pool, hmn_sampler_latest_pool(sampler, u32(2), &out, &error));
}
static void do_sample_telemetry(void) {
  READ_SAMPLER(telemetry, hmn_sampler_latest_telemetry(sampler, u32(2), &out, &error));
}
static void do_sample_peak(void) {
  READ_SAMPLER(peak, hmn_sampler_peak(sampler, u32(2), u32(3), &out, &error));
}
static void do_sample_device_peak(void) {
  READ_SAMPLER(peak, hmn_sampler_peak_device(sampler, u32(2), &out, &error));
}

/* ---- estimates, and the tracker; at most one exists ---- */

static hmn_tracker* tracker;

static uint64_t u64(int i) {
  return strtoull(words[i], NULL, 10);
}

/* Writes an estimate, or the failure. */
#define ESTIMATE(CALL)                               \
  do {                                               \
    hmn_error error = {.struct_size = sizeof error}; \
    uint64_t out = 0;                                \
    if ((CALL) == HMN_OK)                            \
      printf("value\t%" PRIu64 "\n", out);           \
    else                                             \
      write_failure(error.status, error.message);    \
  } while (0)

static void do_estimate_tensor(void) {
  const uint64_t shape[] = {u64(1), u64(2)};
  uint32_t dtype = 0;
  ESTIMATE(hmn_dtype_from_name(words[3], &dtype, &error) == HMN_OK
               ? hmn_estimate_tensor(shape, 2, dtype, &out, &error)
               : error.status);
}
static void do_estimate_cache(void) {
  const hmn_cache cache = {.struct_size = sizeof cache,
                           .kind = u32(1),
                           .dtype = HMN_DTYPE_F16,
                           .layers = u64(2),
                           .kv_heads = u64(3),
                           .row_dim = u64(4)};
  ESTIMATE(hmn_estimate_cache(&cache, u64(5), 1, &out, &error));
}

static void do_estimate_packed(void) {
  const uint64_t shape[] = {u64(1), u64(2)};
  hmn_packing packing = {.struct_size = sizeof packing, .group_size = u32(4), .group_bits = u32(5)};
  ESTIMATE(hmn_dtype_from_name(words[3], &packing.dtype, &error) == HMN_OK
               ? hmn_estimate_packed(shape, 2, &packing, &out, &error)
               : error.status);
}
static void do_estimate_attention(void) {
  const hmn_attention layer = {.struct_size = sizeof layer,
                               .flags = u32(5) != 0 ? HMN_ATTENTION_FUSED : 0,
                               .dtype = HMN_DTYPE_F16,
                               .heads = u64(1),
                               .kv_heads = u64(2),
                               .sequence = u64(3),
                               .head_dim = u64(4)};
  ESTIMATE(hmn_estimate_attention(&layer, &out, &error));
}
static void do_estimate_overhead(void) {
  ESTIMATE(hmn_estimate_overhead(u64(1), u32(2), &out, &error));
}
static void do_estimate_sum(void) {
  const uint64_t values[] = {u64(1), u64(2)};
  ESTIMATE(hmn_estimate_sum(values, 2, &out, &error));
}
static void do_dtype_bits(void) {
  uint32_t dtype = 0;
  ESTIMATE(hmn_dtype_from_name(words[1], &dtype, &error) == HMN_OK
               ? (out = hmn_dtype_bits(dtype), HMN_OK)
               : error.status);
}

#define CHECK_CALL(CALL)                                              \
  do {                                                                \
    hmn_error error = {.struct_size = sizeof error};                  \
    if ((CALL) != HMN_OK) write_failure(error.status, error.message); \
  } while (0)

static void do_track(void) {
  const hmn_tracker_options options = {
      .struct_size = sizeof options, .flags = HMN_TRACKER_LIMITED, .limit_bytes = u64(1)};
  hmn_tracker_destroy(tracker);
  CHECK_CALL(hmn_tracker_create(context, 0, &options, &tracker, &error));
}
static void do_track_tag(void) {
  uint32_t tag = 0;
  CHECK_CALL(hmn_tracker_tag(tracker, words[1], &tag, &error));
  if (tag != 0) write_number(tag);
}
static void do_track_allocate(void) {
  CHECK_CALL(hmn_tracker_allocate_tagged(tracker, u32(2), u64(1), &error));
}
static void do_track_release(void) {
  CHECK_CALL(hmn_tracker_release_tagged(tracker, u32(2), u64(1), &error));
}
static void do_track_limit(void) {
  CHECK_CALL(
      hmn_tracker_set_limit(tracker, strcmp(words[1], "-") != 0 ? u64(1) : UINT64_MAX, &error));
}
static void do_track_reset(void) {
  CHECK_CALL(hmn_tracker_reset(tracker, &error));
}
static void do_track_fits(void) {
  write_number(hmn_tracker_would_fit(tracker, u64(1), NULL) == HMN_OK);
}
static void do_track_info(void) {
  hmn_tracker_info out = {.struct_size = sizeof out};
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_tracker_read(tracker, &out, &error) == HMN_OK)
    write_record(tracker_info_fields, &out);
  else
    write_refusal(&error);
}
static void do_track_read_tag(void) {
  hmn_tag out = {.struct_size = sizeof out};
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_tracker_read_tag(tracker, u32(1), &out, &error) == HMN_OK)
    write_record(tag_fields, &out);
  else
    write_refusal(&error);
}

/* ---- the spill detector; at most one exists ---- */

static hmn_spill* spill;

static void make_spill(hmn_context* owner, uint32_t device_index, int first) {
  const hmn_spill_options options = {.struct_size = sizeof options,
                                     .episode_capacity = u32(first),
                                     .dedicated_threshold_bytes = u64(first + 1),
                                     .growth_bytes = u64(first + 2)};
  hmn_spill_destroy(spill);
  CHECK_CALL(hmn_spill_create(owner, device_index, &options, &spill, &error));
}
static void do_spill(void) {
  make_spill(context, u32(1), 2);
}
static void do_spill_fed(void) {
  make_spill(NULL, 0, 1);
}
static void do_spill_observe(void) {
  CHECK_CALL(hmn_spill_observe(spill, words[1], &error));
}
static void do_spill_snapshot(void) {
  CHECK_CALL(hmn_spill_observe_snapshot(spill, find_snapshot(1), words[2], &error));
}
/* Words: time, dedicated, shared, limit, evicted, label; an unknown limit or evicted is `-`. */
static void do_spill_feed(void) {
  const int has_limit = words[4][0] != '-', has_evicted = words[5][0] != '-';
  const hmn_spill_sample sample = {.struct_size = sizeof sample,
                                   .flags = (has_limit ? HMN_SPILL_SAMPLE_HAS_LIMIT : 0u) |
                                            (has_evicted ? HMN_SPILL_SAMPLE_HAS_EVICTED : 0u),
                                   .monotonic_ns = u64(1),
                                   .dedicated_bytes = u64(2),
                                   .shared_bytes = u64(3),
                                   .limit_bytes = has_limit ? u64(4) : 0,
                                   .evicted_bytes = has_evicted ? u64(5) : 0};
  CHECK_CALL(hmn_spill_feed(spill, &sample, words[6], &error));
}
static void do_spill_info(void) {
  hmn_spill_info out = {.struct_size = sizeof out};
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_spill_read(spill, &out, &error) == HMN_OK)
    write_record(spill_info_fields, &out);
  else
    write_refusal(&error);
}
static void do_spill_episode(void) {
  hmn_episode out = {.struct_size = sizeof out};
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_spill_episode(spill, u64(1), &out, &error) == HMN_OK)
    write_record(episode_fields, &out);
  else
    write_refusal(&error);
}

/* ---- texts ---- */

#define WRITE_TEXT(CALL)               \
  do {                                 \
    uint32_t needed = 0, capacity = 0; \
    char* buffer = NULL;               \
    hmn_error error;                   \
    error.struct_size = sizeof error;  \
    hmn_status status = (CALL);        \
    if (status == HMN_OK) {            \
      capacity = needed;               \
      buffer = malloc(capacity);       \
      if (!buffer) abort();            \
      status = (CALL);                 \
    }                                  \
    if (status == HMN_OK)              \
      write_text("value", buffer);     \
    else                               \
      write_refusal(&error);           \
    free(buffer);                      \
  } while (0)

#define WRITE_SNAPSHOT_TEXT(CALL)              \
  do {                                         \
    hmn_snapshot* snapshot = find_snapshot(1); \
    if (!snapshot)                             \
      write_closed();                          \
    else                                       \
      WRITE_TEXT(CALL);                        \
  } while (0)

#define WRITE_DELTA_TEXT(CALL)              \
  do {                                      \
    hmn_snapshot* after = find_snapshot(2); \
    if (!after)                             \
      write_closed();                       \
    else                                    \
      WRITE_SNAPSHOT_TEXT(CALL);            \
  } while (0)

static void do_process_name(void) {
  WRITE_SNAPSHOT_TEXT(hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_NAME, u32(2), buffer,
                                           capacity, &needed, &error));
}
static void do_process_command(void) {
  WRITE_SNAPSHOT_TEXT(hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_COMMAND, u32(2), buffer,
                                           capacity, &needed, &error));
}
static void do_process_container(void) {
  WRITE_SNAPSHOT_TEXT(hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_CONTAINER, u32(2), buffer,
                                           capacity, &needed, &error));
}
static void do_group_name(void) {
  WRITE_SNAPSHOT_TEXT(hmn_snapshot_text_at(snapshot, HMN_TEXT_GROUP_NAME, u32(2), buffer, capacity,
                                           &needed, &error));
}
static void do_json(void) {
  WRITE_SNAPSHOT_TEXT(hmn_format_json(snapshot, 0, buffer, capacity, &needed, &error));
}
static void do_device_line(void) {
  WRITE_SNAPSHOT_TEXT(
      hmn_format_device(snapshot, u32(2), u32(3), 0, buffer, capacity, &needed, &error));
}
static void do_delta_line(void) {
  WRITE_DELTA_TEXT(
      hmn_report_delta(snapshot, after, u32(3), words[4], 0, buffer, capacity, &needed, &error));
}
static void do_before_after(void) {
  WRITE_DELTA_TEXT(hmn_report_before_after(snapshot, after, u32(3), words[4], 0, buffer, capacity,
                                           &needed, &error));
}
static void do_format_bytes(void) {
  WRITE_TEXT(hmn_format_bytes(strtoull(words[1], NULL, 10), buffer, capacity, &needed, &error));
}

/* ---- the library ---- */

static void do_status_name(void) {
  write_text("value", hmn_status_name((hmn_status)strtol(words[1], NULL, 10)));
}
static void do_backend_name(void) {
  write_text("value", hmn_backend_name(u32(1)));
}
static void do_reason_name(void) {
  write_text("value", hmn_reason_name(u32(1)));
}
static void do_metric_name(void) {
  write_text("value", hmn_metric_name(u32(1)));
}
static void do_metric_unit(void) {
  write_text("value", hmn_metric_unit(u32(1)));
}
static void do_metric_instance_name(void) {
  write_text("value", hmn_metric_instance_name(u32(1), u32(2)));
}
static void do_backend_available(void) {
  write_number(hmn_backend_available(u32(1)));
}
static void do_feature(void) {
  write_number(hmn_feature(u32(1)));
}
static void do_version(void) {
  write_text("value", hmn_version_string());
  printf("number\t%" PRIu32 "\n", hmn_version_number());
}

static const struct command {
  const char* name;
  int words;
  void (*run)(void);
} commands[] = {{"open", 4, do_open},
                {"close", 0, do_close},
                {"set_path", 2, do_set_path},
                {"scan", 0, do_scan},
                {"scan_generation", 0, do_scan_generation},
                {"find_device", 1, do_find_device},
                {"device", 1, do_device},
                {"pool", 2, do_pool},
                {"telemetry", 2, do_telemetry},
                {"metric", 3, do_metric},
                {"usage", 2, do_usage},
                {"own_usage", 1, do_own_usage},
                {"process_memory", 2, do_process_memory},
                {"own_memory", 1, do_own_memory},
                {"system_memory", 0, do_system_memory},
                {"backend", 1, do_backend},
                {"take", 5, do_take},
                {"drop", 1, do_drop},
                {"info", 1, do_info},
                {"memory", 1, do_memory},
                {"system", 1, do_system},
                {"snapshot_device", 2, do_snapshot_device},
                {"snapshot_telemetry", 2, do_snapshot_telemetry},
                {"self", 2, do_self},
                {"snapshot_pool", 2, do_snapshot_pool},
                {"snapshot_usage", 2, do_snapshot_usage},
                {"process_name", 2, do_process_name},
                {"process_command", 2, do_process_command},
                {"process_container", 2, do_process_container},
                {"snapshot_metric", 2, do_snapshot_metric},
                {"snapshot_group", 2, do_snapshot_group},
                {"group_name", 2, do_group_name},
                {"diagnostic", 2, do_diagnostic},
                {"reason", 8, do_reason},
                {"json", 1, do_json},
                {"device_line", 3, do_device_line},
                {"delta", 3, do_delta},
                {"delta_line", 4, do_delta_line},
                {"before_after", 4, do_before_after},
                {"estimate_tensor", 3, do_estimate_tensor},
                {"estimate_cache", 5, do_estimate_cache},
                {"estimate_packed", 5, do_estimate_packed},
                {"estimate_attention", 5, do_estimate_attention},
                {"estimate_overhead", 2, do_estimate_overhead},
                {"estimate_sum", 2, do_estimate_sum},
                {"dtype_bits", 1, do_dtype_bits},
                {"track_limit", 1, do_track_limit},
                {"track_reset", 0, do_track_reset},
                {"track", 1, do_track},
                {"track_tag", 1, do_track_tag},
                {"track_allocate", 2, do_track_allocate},
                {"track_release", 2, do_track_release},
                {"track_fits", 1, do_track_fits},
                {"track_info", 0, do_track_info},
                {"track_read_tag", 1, do_track_read_tag},
                {"spill", 4, do_spill},
                {"spill_fed", 3, do_spill_fed},
                {"spill_observe", 1, do_spill_observe},
                {"spill_snapshot", 2, do_spill_snapshot},
                {"spill_feed", 6, do_spill_feed},
                {"spill_info", 0, do_spill_info},
                {"spill_episode", 1, do_spill_episode},
                {"sample", 2, do_sample},
                {"sample_idle", 2, do_sample_idle},
                {"sample_next", 3, do_sample_next},
                {"sample_stop", 1, do_sample_stop},
                {"sample_drop", 1, do_sample_drop},
                {"sample_info", 1, do_sample_info},
                {"sample_pool", 2, do_sample_pool},
                {"sample_telemetry", 2, do_sample_telemetry},
                {"sample_peak", 3, do_sample_peak},
                {"sample_device_peak", 2, do_sample_device_peak},
                {"format_bytes", 1, do_format_bytes},
                {"status_name", 1, do_status_name},
                {"backend_name", 1, do_backend_name},
                {"reason_name", 1, do_reason_name},
                {"metric_name", 1, do_metric_name},
                {"metric_unit", 1, do_metric_unit},
                {"metric_instance_name", 2, do_metric_instance_name},
                {"feature", 1, do_feature},
                {"backend_available", 1, do_backend_available},
                {"version", 0, do_version}};

static int split(char* line) {
  int count = 0;
  line[strcspn(line, "\n")] = 0;
  while (line && count < MAX_WORDS) {
    words[count++] = line;
    line = strchr(line, '\t');
    if (line) *line++ = 0;
  }
  return count;
}

static void run_command(int count) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    if (strcmp(commands[i].name, words[0]) != 0) continue;
    if (commands[i].words == count - 1)
      commands[i].run();
    else
      puts("error\tusage");
    return;
  }
  puts("error\tunknown");
}

int main(void) {
  char line[LINE_SIZE];
  while (fgets(line, sizeof line, stdin)) {
    const int count = split(line);
    if (strcmp(words[0], "quit") == 0) break;
    run_command(count);
    putchar('\n');
    fflush(stdout);
  }
  for (int i = 0; i < MAX_SNAPSHOTS; ++i) hmn_snapshot_destroy(snapshots[i].snapshot);
  do_sample_drop();
  do_close();
  return 0;
}
