/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A client of 0.1: compiled with the header of that release, run with today's library. Never edited
 * once 1.0 is released. Exit code 0, 1: a wrong result, or 3: a byte after a struct was written.
 */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG = 1, DAMAGED = 3, CANARY = 64, PATTERN = 0xA5 };

static void fail(int code, const char* message) {
  fprintf(stderr, "client of %d.%d: %s\n", HMN_VERSION_MAJOR, HMN_VERSION_MINOR, message);
  exit(code);
}

static void arm(void* bytes, size_t size, uint32_t struct_size) {
  memset(bytes, PATTERN, size);
  memcpy(bytes, &struct_size, sizeof struct_size);
}

static void check(const void* bytes, size_t size, size_t struct_size, const char* call) {
  const unsigned char* byte = bytes;
  for (size_t i = struct_size; i < size; ++i) {
    if (byte[i] != PATTERN) fail(DAMAGED, call);
  }
  uint32_t size_field = 0;
  memcpy(&size_field, bytes, sizeof size_field);
  if (size_field != struct_size) fail(WRONG, call);
}

/* A struct followed by a canary. */
#define RECORD(type, name)        \
  struct {                        \
    type it;                      \
    unsigned char canary[CANARY]; \
  } name;                         \
  arm(&name, sizeof name, sizeof(type))
#define OK(name, call)                                \
  do {                                                \
    if ((call) != HMN_OK) fail(WRONG, #call);         \
    check(&name, sizeof name, sizeof name.it, #call); \
  } while (0)
#define REFUSED(name, call, expected)                 \
  do {                                                \
    if ((call) != (expected)) fail(WRONG, #call);     \
    check(&name, sizeof name, sizeof name.it, #call); \
  } while (0)
/* The client knows only these bits. */
#define KNOWN(name, bits)                                                                   \
  do {                                                                                      \
    if ((name.it.present & ~(hmn_flags)(bits)) != 0) fail(WRONG, #name ": an unknown bit"); \
  } while (0)
#define IS(condition)                          \
  do {                                         \
    if (!(condition)) fail(WRONG, #condition); \
  } while (0)

static void read_host(hmn_context* context) {
  RECORD(hmn_process_memory, memory);
  RECORD(hmn_system_memory, host);
  RECORD(hmn_error, error);
  OK(memory, hmn_process_memory_read_self(context, 0, &memory.it, &error.it));
  check(&error, sizeof error, sizeof error.it, "hmn_error");
  KNOWN(memory, (1 << 11) - 1);
  OK(memory, hmn_process_memory_read(context, 4242, 0, &memory.it, NULL));
  OK(host, hmn_system_memory_read(context, 0, &host.it, NULL));
  KNOWN(host, (1 << 11) - 1);
}

static void read_devices(hmn_context* context) {
  RECORD(hmn_device, device);
  RECORD(hmn_pool, pool);
  RECORD(hmn_telemetry, telemetry);
  RECORD(hmn_usage, usage);
  RECORD(hmn_backend_info, backend);
  RECORD(hmn_metric, metric);
  hmn_metric_key metric_key = HMN_INIT(hmn_metric_key);
  OK(device, hmn_device_read(context, 0, 0, &device.it, NULL));
  KNOWN(device, (1 << 15) - 1);
  OK(pool, hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool.it, NULL));
  KNOWN(pool, 127);
  OK(telemetry, hmn_telemetry_read(context, 0, 0, &telemetry.it, NULL));
  KNOWN(telemetry, (1 << 21) - 1);
  metric_key.id = HMN_METRIC_TEMPERATURE;
  metric_key.instance = HMN_SENSOR_CORE;
  IS(hmn_metric_kind(HMN_METRIC_TEMPERATURE) == HMN_NUMBER_KIND_GAUGE);
  IS(hmn_metric_next(0) == HMN_METRIC_ENGINE_BUSY_NS);
  OK(metric, hmn_metric_read(context, 0, &metric_key, 0, &metric.it, NULL));
  KNOWN(metric, 7);
  OK(usage, hmn_usage_read(context, 0, 4242, 0, &usage.it, NULL));
  KNOWN(usage, (1 << 18) - 1);
  OK(usage, hmn_usage_read_self(context, 0, 0, &usage.it, NULL));
  IS(hmn_context_recording(context, 0, NULL, 0, NULL, NULL) == HMN_E_STATE);
  IS(hmn_context_cancel(context, NULL) == HMN_OK);
  REFUSED(pool, hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool.it, NULL), HMN_E_CANCELLED);
  IS(hmn_context_resume(context, NULL) == HMN_OK);
  OK(backend, hmn_context_backend(context, HMN_BACKEND_SIMULATED, &backend.it, NULL));
  KNOWN(backend, 1);
  REFUSED(pool, hmn_pool_read(context, 999, HMN_POOL_MAIN, 0, 0, &pool.it, NULL), HMN_E_NO_DEVICE);
}

static void check_devices(hmn_context* context) {
  uint32_t count = 0;
  uint32_t index = 99;
  IS(hmn_device_scan(context, &count, NULL, NULL) == HMN_OK && count > 0);
  uint64_t generation = 0;
  IS(hmn_device_scan(context, NULL, &generation, NULL) == HMN_OK && generation > 0);
  IS(hmn_device_find(context, "pci:0000:01:00.0", &index, NULL) == HMN_OK && index == 0);
  RECORD(hmn_device, device);
  RECORD(hmn_pool, pool);
  OK(device, hmn_device_read(context, 0, 0, &device.it, NULL));
  IS(strcmp(device.it.uuid, "GPU-11111111-2222-3333-4444-555555555555") == 0);
  OK(pool, hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool.it, NULL));
  IS(pool.it.used_bytes == (uint64_t)3072 * 1024 * 1024);
  IS(pool.it.total_bytes == pool.it.free_bytes + pool.it.used_bytes + pool.it.reserved_bytes);
}

static hmn_snapshot* take(hmn_context* context) {
  RECORD(hmn_snapshot_options, options);
  memset(&options.it.flags, 0, sizeof options.it - sizeof options.it.struct_size);
  options.it.collect = 511;
  hmn_snapshot* snapshot = NULL;
  OK(options, hmn_snapshot_take(context, &options.it, &snapshot, NULL));
  return snapshot;
}

static void read_snapshot(const hmn_snapshot* s) {
  RECORD(hmn_snapshot_info, info);
  RECORD(hmn_process_memory, memory);
  RECORD(hmn_system_memory, host);
  RECORD(hmn_device, device);
  RECORD(hmn_telemetry, telemetry);
  RECORD(hmn_usage, usage);
  RECORD(hmn_pool, pool);
  RECORD(hmn_diagnostic, diagnostic);
  hmn_reason_key reason_key = HMN_INIT(hmn_reason_key);
  RECORD(hmn_metric, metric);
  RECORD(hmn_group, group);
  OK(info, hmn_snapshot_read(s, &info.it, NULL));
  OK(memory, hmn_snapshot_memory(s, &memory.it, NULL));
  OK(host, hmn_snapshot_system(s, &host.it, NULL));
  OK(device, hmn_snapshot_device_at(s, 0, &device.it, NULL));
  OK(telemetry, hmn_snapshot_find_telemetry(s, 0, &telemetry.it, NULL));
  OK(usage, hmn_snapshot_find_self(s, 0, &usage.it, NULL));
  OK(pool, hmn_snapshot_pool_at(s, 0, &pool.it, NULL));
  OK(pool, hmn_snapshot_find_pool(s, 0, HMN_POOL_MAIN, 0, &pool.it, NULL));
  OK(usage, hmn_snapshot_usage_at(s, 0, &usage.it, NULL));
  OK(metric, hmn_snapshot_metric_at(s, 0, &metric.it, NULL));
  OK(diagnostic, hmn_snapshot_diagnostic_at(s, 0, &diagnostic.it, NULL));
  KNOWN(diagnostic, 127);
  reason_key.subject = HMN_COLLECT_POOLS;
  OK(diagnostic, hmn_snapshot_reason(s, &reason_key, &diagnostic.it, NULL));
  OK(group, hmn_snapshot_group_at(s, 0, &group.it, NULL));
  KNOWN(group, 3);
}

static void sample(hmn_context* context) {
  RECORD(hmn_sampler_options, options);
  memset(&options.it.flags, 0, sizeof options.it - sizeof options.it.struct_size);
  hmn_sampler* sampler = NULL;
  int64_t handle = -1;
  hmn_snapshot* first = NULL;
  OK(options, hmn_sampler_create(context, &options.it, NULL, &sampler, NULL));
  IS(hmn_sampler_handle(sampler, &handle, NULL) == HMN_OK && handle >= 0);
  IS(hmn_sampler_start(sampler, NULL) == HMN_OK);
  IS(hmn_sampler_next(sampler, HMN_MILLISECONDS(60000), &first, NULL) == HMN_OK);
  IS(hmn_sampler_stop(sampler, NULL) == HMN_OK);
  hmn_snapshot_destroy(first);
  RECORD(hmn_sampler_info, info);
  RECORD(hmn_pool, pool);
  RECORD(hmn_telemetry, telemetry);
  RECORD(hmn_peak, peak);
  OK(info, hmn_sampler_read(sampler, &info.it, NULL));
  KNOWN(info, 1);
  OK(pool, hmn_sampler_latest_pool(sampler, 0, &pool.it, NULL));
  OK(telemetry, hmn_sampler_latest_telemetry(sampler, 0, &telemetry.it, NULL));
  OK(peak, hmn_sampler_peak_device(sampler, 0, &peak.it, NULL));
  KNOWN(peak, 7);
  REFUSED(peak, hmn_sampler_peak(sampler, 0, 4242, &peak.it, NULL), HMN_E_NO_PROCESS);
  hmn_sampler_destroy(sampler);
}

static void detect(hmn_context* context, const hmn_snapshot* snapshot) {
  RECORD(hmn_spill_options, options);
  memset(&options.it.flags, 0, sizeof options.it - sizeof options.it.struct_size);
  RECORD(hmn_spill_sample, sample);
  memset(&sample.it.flags, 0, sizeof sample.it - sizeof sample.it.struct_size);
  hmn_spill* spill = NULL;
  OK(options, hmn_spill_create(context, 0, &options.it, &spill, NULL));
  IS(hmn_spill_observe(spill, "begin", NULL) != HMN_E_INTERNAL);
  IS(hmn_spill_observe_snapshot(spill, snapshot, "begin", NULL) != HMN_E_INTERNAL);
  sample.it.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
  OK(sample, hmn_spill_feed(spill, &sample.it, "calm", NULL));
  sample.it.evicted_bytes = UINT64_MAX;
  OK(sample, hmn_spill_feed(spill, &sample.it, "full", NULL));
  RECORD(hmn_spill_info, info);
  RECORD(hmn_episode, episode);
  OK(info, hmn_spill_read(spill, &info.it, NULL));
  KNOWN(info, 31);
  IS((info.it.state & HMN_SPILL_STATE_NOW) != 0 && info.it.rules == HMN_SPILL_BY_EVICTED);
  OK(episode, hmn_spill_episode(spill, 0, &episode.it, NULL));
  KNOWN(episode, 3);
  REFUSED(episode, hmn_spill_episode(spill, 1, &episode.it, NULL), HMN_E_RANGE);
  hmn_spill_destroy(spill);
}

static void estimate(void) {
  const uint64_t shape[] = {10, 100};
  uint32_t dtype = 0;
  uint64_t bytes = 0;
  RECORD(hmn_packing, packing);
  RECORD(hmn_attention, attention);
  RECORD(hmn_cache, cache);
  memset(&packing.it.flags, 0, sizeof packing.it - sizeof packing.it.struct_size);
  memset(&attention.it.flags, 0, sizeof attention.it - sizeof attention.it.struct_size);
  memset(&cache.it.flags, 0, sizeof cache.it - sizeof cache.it.struct_size);
  IS(hmn_dtype_from_name("float32", &dtype, NULL) == HMN_OK && dtype == HMN_DTYPE_F32);
  IS(hmn_dtype_bits(dtype) == 32 && strcmp(hmn_dtype_name(dtype), "f32") == 0);
  packing.it.dtype = attention.it.dtype = cache.it.dtype = dtype;
  attention.it.heads = cache.it.layers = cache.it.kv_heads = 1;
  attention.it.sequence = 4;
  attention.it.head_dim = cache.it.row_dim = 2;
  IS(hmn_estimate_tensor(shape, 2, dtype, &bytes, NULL) == HMN_OK && bytes == 4000);
  OK(packing, hmn_estimate_packed(shape, 2, &packing.it, &bytes, NULL));
  OK(attention, hmn_estimate_attention(&attention.it, &bytes, NULL));
  IS(bytes == 192);
  OK(cache, hmn_estimate_cache(&cache.it, 4, 1, &bytes, NULL));
  IS(bytes == 32);
  IS(hmn_estimate_overhead(1000, 0, &bytes, NULL) == HMN_OK && bytes == 1100);
  IS(hmn_estimate_sum(shape, 2, &bytes, NULL) == HMN_OK && bytes == 110);
}

static void track_allocations(hmn_context* context) {
  RECORD(hmn_tracker_options, options);
  RECORD(hmn_tracker_info, info);
  RECORD(hmn_tag, tag);
  hmn_tracker* tracker = NULL;
  uint32_t number = 0;
  memset(&options.it.flags, 0, sizeof options.it - sizeof options.it.struct_size);
  options.it.flags = HMN_TRACKER_LIMITED;
  options.it.limit_bytes = 1000;
  OK(options, hmn_tracker_create(context, 0, &options.it, &tracker, NULL));
  IS(hmn_tracker_tag(tracker, "weights", &number, NULL) == HMN_OK && number == 1);
  IS(hmn_tracker_allocate(tracker, 500, NULL) == HMN_OK);
  IS(hmn_tracker_allocate_tagged(tracker, number, 400, NULL) == HMN_OK);
  IS(hmn_tracker_allocate(tracker, 101, NULL) == HMN_E_LIMIT);
  IS(hmn_tracker_would_fit(tracker, 100, NULL) == HMN_OK);
  IS(hmn_tracker_release_tagged(tracker, number, 100, NULL) == HMN_OK);
  IS(hmn_tracker_release(tracker, 500, NULL) == HMN_OK);
  IS(hmn_tracker_set_limit(tracker, 300, NULL) == HMN_OK);
  OK(info, hmn_tracker_read(tracker, &info.it, NULL));
  KNOWN(info, 3);
  IS(info.it.allocated_bytes == 300 && info.it.peak_bytes == 900 && info.it.limit_bytes == 300);
  OK(tag, hmn_tracker_read_tag(tracker, number, &tag.it, NULL));
  KNOWN(tag, 0);
  IS(tag.it.allocated_bytes == 300 && strcmp(tag.it.name, "weights") == 0);
  REFUSED(tag, hmn_tracker_read_tag(tracker, 2, &tag.it, NULL), HMN_E_RANGE);
  IS(hmn_tracker_reset(tracker, NULL) == HMN_OK);
  hmn_tracker_destroy(tracker);
}

static void compare(const hmn_snapshot* before, const hmn_snapshot* after) {
  RECORD(hmn_delta, delta);
  OK(delta, hmn_delta_read(before, after, 0, &delta.it, NULL));
  KNOWN(delta, 7);
  char text[512];
  uint32_t needed = 0;
  IS(hmn_report_delta(before, after, 0, "label", 0, text, sizeof text, &needed, NULL) == HMN_OK);
  IS(hmn_report_before_after(before, after, 0, "label", 0, text, sizeof text, &needed, NULL) ==
     HMN_OK);
  IS(hmn_format_device(after, 0, HMN_FORMAT_FREE, 0, text, sizeof text, &needed, NULL) == HMN_OK);
  IS(hmn_format_bytes(1, text, sizeof text, &needed, NULL) == HMN_OK);
  IS(hmn_format_json(after, 0, NULL, 0, &needed, NULL) == HMN_OK);
  IS(hmn_snapshot_text_at(after, HMN_TEXT_PROCESS_NAME, 0, text, sizeof text, &needed, NULL) !=
     HMN_E_INTERNAL);
}

static void check_library(void) {
  IS(hmn_version_number() >= HMN_VERSION_NUMBER);
  IS(hmn_version_string()[0] != 0);
  IS(hmn_monotonic_ns() != 0);
  IS(strcmp(hmn_status_name(HMN_E_RANGE), "HMN_E_RANGE") == 0);
  IS(strcmp(hmn_metric_name(HMN_METRIC_TEMPERATURE), "temperature") == 0);
  IS(hmn_metric_unit(HMN_METRIC_TEMPERATURE)[0] != 0);
  IS(hmn_metric_instance_name(HMN_METRIC_TEMPERATURE, HMN_SENSOR_CORE)[0] != 0);
  IS(strcmp(hmn_backend_name(HMN_BACKEND_NVML), "nvml") == 0);
  IS(strcmp(hmn_reason_name(HMN_REASON_LOST), "lost") == 0);
  IS(hmn_feature(HMN_FEATURE_SIMULATION) == 1);
  IS(hmn_backend_available(HMN_BACKEND_SIMULATED) == 1);
}

int main(int count, char** arguments) {
  RECORD(hmn_context_options, options);
  memset(&options.it.flags, 0, sizeof options.it - sizeof options.it.struct_size);
  hmn_context* context = NULL;
  if (count != 2) return 2;
  OK(options, hmn_context_create(&options.it, &context, NULL));
  IS(hmn_context_set_path(context, HMN_PATH_SIMULATION, arguments[1], NULL) == HMN_OK);
  read_host(context);
  read_devices(context);
  hmn_snapshot* before = take(context);
  hmn_snapshot* after = take(context);
  read_snapshot(after);
  check_devices(context);
  sample(context);
  estimate();
  track_allocations(context);
  detect(context, after);
  compare(before, after);
  hmn_context_destroy(context);
  read_snapshot(before);
  hmn_snapshot_destroy(before);
  hmn_snapshot_destroy(after);
  check_library();
  return 0;
}
