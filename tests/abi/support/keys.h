/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Calls that take a key, in one line.
 */
#ifndef HMN_TEST_KEYS_H
#define HMN_TEST_KEYS_H
#include <hypomnesis.h>

static inline hmn_status read_metric(hmn_context* context, uint32_t device, uint32_t id,
                                     uint32_t instance, hmn_metric* out, hmn_error* error) {
  hmn_metric_key key = HMN_INIT(hmn_metric_key);
  key.id = id;
  key.instance = instance;
  return hmn_metric_read(context, device, &key, 0, out, error);
}

static inline hmn_status read_reason(const hmn_snapshot* snapshot, uint32_t device,
                                     hmn_flags subject, hmn_fields field, hmn_diagnostic* out) {
  hmn_reason_key key = HMN_INIT(hmn_reason_key);
  key.subject = subject;
  key.device_index = device;
  key.field = field;
  return hmn_snapshot_reason(snapshot, &key, out, NULL);
}

static inline hmn_status read_metric_reason(const hmn_snapshot* snapshot, uint32_t device,
                                            uint32_t id, uint32_t instance, hmn_diagnostic* out) {
  hmn_reason_key key = HMN_INIT(hmn_reason_key);
  key.subject = HMN_COLLECT_METRICS;
  key.device_index = device;
  key.metric = id;
  key.metric_instance = instance;
  return hmn_snapshot_reason(snapshot, &key, out, NULL);
}
#endif
