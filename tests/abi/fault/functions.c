/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions that support/calls.c has no row for, and those that need another machine here. A
 * function without a status counts as HMN_OK if it returns the expected value.
 */
#include "machine.h"
#include "world.h"

#define RUN(name, ...)                                       \
  static hmn_status run_##name(world* w, hmn_error* error) { \
    (void)w;                                                 \
    (void)error;                                             \
    __VA_ARGS__                                              \
  }
#define OK_IF(condition) return (condition) ? HMN_OK : HMN_E_INTERNAL;
#define CALL(...) return hmn_##__VA_ARGS__;

RUN(version_number, OK_IF(hmn_version_number() == HMN_VERSION_NUMBER))
RUN(version_string, OK_IF(hmn_version_string()[0] != 0))
RUN(feature, OK_IF(hmn_feature(0) == 0))
RUN(backend_available, OK_IF(hmn_backend_available(HMN_BACKEND_OS) == 1))
RUN(monotonic_ns, OK_IF(hmn_monotonic_ns() > 0))
RUN(status_name, OK_IF(strcmp(hmn_status_name(HMN_OK), "HMN_OK") == 0))
RUN(backend_name, OK_IF(strcmp(hmn_backend_name(0), "none") == 0))
RUN(reason_name, OK_IF(strcmp(hmn_reason_name(0), "unknown") == 0))
RUN(metric_name, OK_IF(strcmp(hmn_metric_name(HMN_METRIC_TEMPERATURE), "temperature") == 0))
RUN(metric_unit, OK_IF(hmn_metric_unit(0)[0] == 0))
RUN(metric_next, OK_IF(hmn_metric_next(0) == HMN_METRIC_ENGINE_BUSY_NS))
RUN(metric_kind, OK_IF(hmn_metric_kind(0) == HMN_NUMBER_KIND_UNKNOWN))
RUN(metric_instance_name, OK_IF(hmn_metric_instance_name(0, 0)[0] == 0))
RUN(dtype_bits, OK_IF(hmn_dtype_bits(HMN_DTYPE_U8) == 8))
RUN(dtype_name, OK_IF(strcmp(hmn_dtype_name(HMN_DTYPE_U8), "u8") == 0))

RUN(context_create, {
  hmn_context* context = NULL;
  const hmn_status status = hmn_context_create(NULL, &context, error);
  hmn_context_destroy(context);
  return status;
})
RUN(context_set_path,
    CALL(context_set_path(w->f.context, HMN_PATH_CGROUP,
                          "/a/path/that/is/longer/than/what/a/string/keeps/within/itself", error)))
RUN(context_backend, {
  NEW(hmn_backend_info, info);
  CALL(context_backend(w->f.context, HMN_BACKEND_NVML, &info, error))
})
RUN(context_cancel, CALL(context_cancel(w->f.context, error)))
RUN(context_resume, CALL(context_resume(w->f.context, error)))
RUN(context_recording, CALL(context_recording(w->f.context, 0, w->text, TEXT, NULL, error)))
RUN(context_destroy, {
  hmn_context_destroy(w->f.context);
  w->f.context = NULL;
  return HMN_OK;
})
RUN(snapshot_take, {
  NEW(hmn_snapshot_options, options);
  hmn_snapshot* snapshot = NULL;
  options.collect = EVERYTHING;
  const hmn_status status = hmn_snapshot_take(w->f.context, &options, &snapshot, error);
  hmn_snapshot_destroy(snapshot);
  return status;
})
RUN(snapshot_destroy, {
  hmn_snapshot_destroy(w->f.before);
  w->f.before = NULL;
  return HMN_OK;
})
RUN(sampler_create, {
  hmn_sampler* sampler = NULL;
  const hmn_status status = hmn_sampler_create(w->f.context, NULL, NULL, &sampler, error);
  hmn_sampler_destroy(sampler);
  return status;
})
RUN(sampler_destroy, {
  int64_t handle = 0;
  if (w->f.sampler != NULL) {
    hmn_sampler_stop(w->f.sampler, error);
    hmn_sampler_handle(w->f.sampler, &handle, error);
  }
  hmn_sampler_destroy(w->f.sampler);
  w->f.sampler = NULL;
  return HMN_OK;
})
RUN(sampler_start, {
  hmn_sampler* sampler = NULL;
  hmn_status status = hmn_sampler_create(w->f.context, NULL, NULL, &sampler, error);
  if (status == HMN_OK) status = hmn_sampler_start(sampler, error);
  hmn_sampler_destroy(sampler);
  return status;
})
RUN(sampler_stop, CALL(sampler_stop(w->f.sampler, error)))
RUN(sampler_next, {
  hmn_snapshot* snapshot = NULL;
  const hmn_status status =
      hmn_sampler_next(w->f.sampler, HMN_MILLISECONDS(PATIENT_MS), &snapshot, error);
  hmn_snapshot_destroy(snapshot);
  return status;
})
/* The handle of a stopped sampler is always ready. */
RUN(sampler_handle, {
  int64_t handle = 0;
  hmn_sampler_stop(w->f.sampler, error);
  CALL(sampler_handle(w->f.sampler, &handle, error))
})

static const uint64_t shape[] = {4, 8};
RUN(dtype_from_name, {
  uint32_t dtype = 0;
  CALL(dtype_from_name("u8", &dtype, error))
})
RUN(estimate_tensor, {
  uint64_t bytes = 0;
  CALL(estimate_tensor(shape, 2, HMN_DTYPE_U8, &bytes, error))
})
RUN(estimate_packed, {
  NEW(hmn_packing, packing);
  uint64_t bytes = 0;
  packing.dtype = HMN_DTYPE_U8;
  CALL(estimate_packed(shape, 2, &packing, &bytes, error))
})
RUN(estimate_attention, {
  NEW(hmn_attention, attention);
  uint64_t bytes = 0;
  attention.dtype = HMN_DTYPE_U8;
  attention.heads = attention.sequence = attention.head_dim = 1;
  CALL(estimate_attention(&attention, &bytes, error))
})
RUN(estimate_cache, {
  NEW(hmn_cache, cache);
  uint64_t bytes = 0;
  cache.dtype = HMN_DTYPE_U8;
  cache.layers = cache.kv_heads = cache.row_dim = 1;
  CALL(estimate_cache(&cache, 1, 1, &bytes, error))
})
RUN(estimate_overhead, {
  uint64_t bytes = 0;
  CALL(estimate_overhead(1000, 50, &bytes, error))
})
RUN(estimate_sum, {
  uint64_t bytes = 0;
  CALL(estimate_sum(shape, 2, &bytes, error))
})

RUN(tracker_create, {
  hmn_tracker* tracker = NULL;
  const hmn_status status = hmn_tracker_create(w->f.context, NVIDIA, NULL, &tracker, error);
  hmn_tracker_destroy(tracker);
  return status;
})
RUN(tracker_destroy, {
  hmn_tracker_destroy(w->f.tracker);
  w->f.tracker = NULL;
  return HMN_OK;
})
RUN(tracker_allocate, CALL(tracker_allocate(w->f.tracker, 1, error)))
RUN(tracker_release, CALL(tracker_release(w->f.tracker, 1, error)))
RUN(tracker_tag, {
  uint32_t tag = 0;
  CALL(tracker_tag(w->f.tracker, "another tag, by a longer name", &tag, error))
})
RUN(tracker_allocate_tagged, CALL(tracker_allocate_tagged(w->f.tracker, 1, 1, error)))
RUN(tracker_release_tagged, CALL(tracker_release_tagged(w->f.tracker, 1, 1, error)))
RUN(tracker_would_fit, CALL(tracker_would_fit(w->f.tracker, 1, error)))
RUN(tracker_set_limit, CALL(tracker_set_limit(w->f.tracker, 1 << 30, error)))
RUN(tracker_reset, CALL(tracker_reset(w->f.tracker, error)))

RUN(spill_create, {
  hmn_spill* spill = NULL;
  const hmn_status status = hmn_spill_create(w->f.context, AMD, NULL, &spill, error);
  hmn_spill_destroy(spill);
  return status;
})
RUN(spill_destroy, {
  hmn_spill_destroy(w->spill);
  w->spill = NULL;
  return HMN_OK;
})
RUN(spill_observe, CALL(spill_observe(w->spill, "label", error)))
RUN(spill_observe_snapshot, CALL(spill_observe_snapshot(w->spill, w->f.after, "label", error)))
RUN(spill_feed, {
  NEW(hmn_spill_sample, sample);
  sample.flags = HMN_SPILL_SAMPLE_HAS_EVICTED;
  CALL(spill_feed(w->spill, &sample, "label", error))
})

#define ROW(name, needs) \
  { "hmn_" #name, needs, run_##name }
const function functions[] = {
    ROW(version_number, NOTHING),
    ROW(version_string, NOTHING),
    ROW(feature, NOTHING),
    ROW(backend_available, NOTHING),
    ROW(monotonic_ns, NOTHING),
    ROW(status_name, NOTHING),
    ROW(backend_name, NOTHING),
    ROW(reason_name, NOTHING),
    ROW(metric_name, NOTHING),
    ROW(metric_unit, NOTHING),
    ROW(metric_next, NOTHING),
    ROW(metric_kind, NOTHING),
    ROW(metric_instance_name, NOTHING),
    ROW(dtype_bits, NOTHING),
    ROW(dtype_name, NOTHING),
    ROW(context_create, NOTHING),
    ROW(context_set_path, CONTEXT),
    ROW(context_backend, CONTEXT),
    ROW(context_cancel, CONTEXT),
    ROW(context_resume, CONTEXT),
    ROW(context_recording, RECORDER),
    ROW(context_destroy, SNAPSHOTS),
    ROW(snapshot_take, CONTEXT),
    ROW(snapshot_destroy, SNAPSHOTS),
    ROW(sampler_create, CONTEXT),
    ROW(sampler_destroy, SAMPLER),
    ROW(sampler_start, SAMPLER),
    ROW(sampler_stop, SAMPLER),
    ROW(sampler_next, SAMPLER),
    ROW(sampler_handle, SAMPLER),
    ROW(dtype_from_name, NOTHING),
    ROW(estimate_tensor, NOTHING),
    ROW(estimate_packed, NOTHING),
    ROW(estimate_attention, NOTHING),
    ROW(estimate_cache, NOTHING),
    ROW(estimate_overhead, NOTHING),
    ROW(estimate_sum, NOTHING),
    ROW(tracker_create, CONTEXT),
    ROW(tracker_destroy, TRACKER),
    ROW(tracker_allocate, TRACKER),
    ROW(tracker_release, TRACKER),
    ROW(tracker_tag, TRACKER),
    ROW(tracker_allocate_tagged, TRACKER),
    ROW(tracker_release_tagged, TRACKER),
    ROW(tracker_would_fit, TRACKER),
    ROW(tracker_set_limit, TRACKER),
    ROW(tracker_reset, TRACKER),
    ROW(spill_create, CONTEXT),
    ROW(spill_destroy, SPILL),
    ROW(spill_observe, SPILL),
    ROW(spill_observe_snapshot, SPILL),
    ROW(spill_feed, SPILL),
};
const size_t function_count = sizeof functions / sizeof functions[0];
