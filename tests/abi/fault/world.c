/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "world.h"

#include "machine.h"

static hmn_flags context_flags(int mode, int needs) {
  if (needs == SAMPLER || mode == BY_WORKERS) return 0;
  return HMN_CONTEXT_NO_THREADS | (needs == RECORDER ? HMN_CONTEXT_RECORD : 0);
}

/* The sampler runs until it is destroyed. */
static hmn_status start_sampler(world* w) {
  NEW(hmn_sampler_options, options);
  NEW(hmn_snapshot_options, snapshot_options);
  hmn_snapshot* first = NULL;
  options.interval_ns = HMN_MILLISECONDS(1);
  options.process_interval_ns = HMN_NS_IMMEDIATE;
  options.capacity = 4;
  snapshot_options.collect = EVERYTHING;
  hmn_status status =
      hmn_sampler_create(w->f.context, &options, &snapshot_options, &w->f.sampler, NULL);
  if (status == HMN_OK) status = hmn_sampler_start(w->f.sampler, NULL);
  if (status == HMN_OK)
    status = hmn_sampler_next(w->f.sampler, HMN_MILLISECONDS(PATIENT_MS), &first, NULL);
  hmn_snapshot_destroy(first);
  return status;
}

static hmn_status start_tracker(world* w) {
  uint32_t tag = 0;
  hmn_status status = hmn_tracker_create(w->f.context, NVIDIA, NULL, &w->f.tracker, NULL);
  if (status == HMN_OK) status = hmn_tracker_tag(w->f.tracker, "tag", &tag, NULL);
  if (status == HMN_OK) status = hmn_tracker_allocate_tagged(w->f.tracker, tag, 1 << 20, NULL);
  return status;
}

hmn_status world_open(world* w, int needs) {
  const hmn_context_options options = patient_options(context_flags(w->mode, needs));
  memset(&w->f, 0, sizeof w->f);
  w->spill = NULL;
  if (needs == NOTHING) return HMN_OK;
  hmn_status status = hmn_context_create(&options, &w->f.context, NULL);
  if (status == HMN_OK) status = machine_use(w->f.context, w->mode == BY_TOOL);
  if (status != HMN_OK) return status;
  switch (needs) {
    case SNAPSHOTS:
    case RECORDER:
      w->f.before = take_everything(w->f.context);
      w->f.after = take_everything(w->f.context);
      return w->f.after == NULL ? HMN_E_EMPTY : HMN_OK;
    case SAMPLER:
      return start_sampler(w);
    case TRACKER:
      return start_tracker(w);
    case SPILL:
      w->f.after = take_everything(w->f.context);
      return hmn_spill_create(w->f.context, AMD, NULL, &w->spill, NULL);
    default:
      return HMN_OK;
  }
}

void world_close(world* w) {
  fixture_close(&w->f);
  hmn_spill_destroy(w->spill);
}
