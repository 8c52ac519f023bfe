// SPDX-License-Identifier: MIT OR Apache-2.0
%rename(version_number) hmn_version_number;
%rename(version_string) hmn_version_string;
%rename(feature) hmn_feature;
%rename(backend_available) hmn_backend_available;
%rename(monotonic_ns) hmn_monotonic_ns;
%rename(status_name) hmn_status_name;
%rename(backend_name) hmn_backend_name;
%rename(reason_name) hmn_reason_name;
%rename(metric_name) hmn_metric_name;
%rename(metric_unit) hmn_metric_unit;
%rename(metric_instance_name) hmn_metric_instance_name;
%rename(metric_kind) hmn_metric_kind;
%rename(metric_next) hmn_metric_next;
uint32_t hmn_version_number(void);
const char *hmn_version_string(void);
uint32_t hmn_feature(uint32_t feature);
uint32_t hmn_backend_available(uint32_t backend);
uint64_t hmn_monotonic_ns(void);
const char *hmn_status_name(hmn_status status);
const char *hmn_backend_name(uint32_t backend);
const char *hmn_reason_name(uint32_t reason);
const char *hmn_metric_name(uint32_t metric);
const char *hmn_metric_unit(uint32_t metric);
const char *hmn_metric_instance_name(uint32_t metric, uint32_t instance);
uint32_t hmn_metric_kind(uint32_t metric);
uint32_t hmn_metric_next(uint32_t metric);

%newobject format_bytes;
%inline %{
char *format_bytes(uint64_t bytes, hmn_error *error) {
  HMN_TEXT(hmn_format_bytes(bytes, buffer, capacity, &needed, error));
}
/* The size of a struct as this library was compiled, 0 for a name that it does not know. */
uint32_t size_of(const char *name) {
#define HMN_SIZE(record) if (strcmp(name, #record) == 0) return (uint32_t)sizeof(record)
  HMN_SIZE(hmn_attention);
  HMN_SIZE(hmn_backend_info);
  HMN_SIZE(hmn_cache);
  HMN_SIZE(hmn_context_options);
  HMN_SIZE(hmn_delta);
  HMN_SIZE(hmn_device);
  HMN_SIZE(hmn_diagnostic);
  HMN_SIZE(hmn_episode);
  HMN_SIZE(hmn_error);
  HMN_SIZE(hmn_group);
  HMN_SIZE(hmn_metric);
  HMN_SIZE(hmn_metric_key);
  HMN_SIZE(hmn_packing);
  HMN_SIZE(hmn_peak);
  HMN_SIZE(hmn_pool);
  HMN_SIZE(hmn_process_memory);
  HMN_SIZE(hmn_reason_key);
  HMN_SIZE(hmn_sampler_info);
  HMN_SIZE(hmn_sampler_options);
  HMN_SIZE(hmn_snapshot_info);
  HMN_SIZE(hmn_snapshot_options);
  HMN_SIZE(hmn_spill_info);
  HMN_SIZE(hmn_spill_options);
  HMN_SIZE(hmn_spill_sample);
  HMN_SIZE(hmn_system_memory);
  HMN_SIZE(hmn_tag);
  HMN_SIZE(hmn_telemetry);
  HMN_SIZE(hmn_tracker_info);
  HMN_SIZE(hmn_tracker_options);
  HMN_SIZE(hmn_usage);
#undef HMN_SIZE
  return 0;
}
%}
