// SPDX-License-Identifier: MIT OR Apache-2.0
%nodefaultctor Snapshot;
typedef struct {
} Snapshot;

%newobject Snapshot::info;
%newobject Snapshot::memory;
%newobject Snapshot::system;
%newobject Snapshot::device;
%newobject Snapshot::telemetry;
%newobject Snapshot::own_usage;
%newobject Snapshot::device_pool;
%newobject Snapshot::pool;
%newobject Snapshot::usage;
%newobject Snapshot::metric;
%newobject Snapshot::group;
%newobject Snapshot::diagnostic;
%newobject Snapshot::reason;
%newobject Snapshot::text;
%newobject Snapshot::device_line;
%newobject Snapshot::json;
%newobject Snapshot::delta_since;
%newobject Snapshot::delta_line;
%newobject Snapshot::before_after_lines;

%extend Snapshot {
  ~Snapshot() { hmn_snapshot_destroy($self); }

  hmn_snapshot_info *info(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_snapshot_info, hmn_snapshot_read($self, out, error));
  }
  hmn_process_memory *memory(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_process_memory, hmn_snapshot_memory($self, out, error));
  }
  hmn_system_memory *system(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_system_memory, hmn_snapshot_system($self, out, error));
  }
  hmn_device *device(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_device, hmn_snapshot_device_at($self, position, out, error));
  }
  hmn_telemetry *telemetry(uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_telemetry, hmn_snapshot_find_telemetry($self, device_index, out, error));
  }
  hmn_usage *own_usage(uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_usage, hmn_snapshot_find_self($self, device_index, out, error));
  }
  hmn_pool *device_pool(uint32_t device_index, uint32_t kind, uint32_t instance, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_pool, hmn_snapshot_find_pool($self, device_index, kind, instance, out, error));
  }
  hmn_pool *pool(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_pool, hmn_snapshot_pool_at($self, position, out, error));
  }
  hmn_usage *usage(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_usage, hmn_snapshot_usage_at($self, position, out, error));
  }
  hmn_metric *metric(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_metric, hmn_snapshot_metric_at($self, position, out, error));
  }
  hmn_group *group(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_group, hmn_snapshot_group_at($self, position, out, error));
  }
  hmn_diagnostic *diagnostic(uint32_t position, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_diagnostic, hmn_snapshot_diagnostic_at($self, position, out, error));
  }
  hmn_diagnostic *reason(uint32_t subject, uint32_t device_index, hmn_fields field, uint32_t pid,
                         uint32_t pool, uint32_t pool_instance, uint32_t metric,
                         uint32_t metric_instance, hmn_error *error) {
    hmn_reason_key key = {sizeof key};
    key.subject = subject;
    key.device_index = device_index;
    key.field = field;
    key.pid = pid;
    key.pool = pool;
    key.pool_instance = pool_instance;
    key.metric = metric;
    key.metric_instance = metric_instance;
    HMN_ASK_IF_THERE(hmn_diagnostic, hmn_snapshot_reason($self, &key, out, error));
  }
  char *text(uint32_t text, uint32_t position, hmn_error *error) {
    HMN_TEXT(hmn_snapshot_text_at($self, text, position, buffer, capacity, &needed, error));
  }
  char *device_line(uint32_t device_index, uint32_t format, hmn_flags flags, hmn_error *error) {
    HMN_TEXT(hmn_format_device($self, device_index, format, flags, buffer, capacity, &needed, error));
  }
  char *json(hmn_error *error) {
    HMN_TEXT(hmn_format_json($self, 0, buffer, capacity, &needed, error));
  }
  hmn_delta *delta_since(const Snapshot *before, uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_delta, hmn_delta_read(before, $self, device_index, out, error));
  }
  char *delta_line(const Snapshot *before, uint32_t device_index, const char *label,
                   hmn_flags flags, hmn_error *error) {
    HMN_TEXT(
        hmn_report_delta(before, $self, device_index, label, flags, buffer, capacity, &needed, error));
  }
  char *before_after_lines(const Snapshot *before, uint32_t device_index, const char *label,
                           hmn_flags flags, hmn_error *error) {
    HMN_TEXT(hmn_report_before_after(before, $self, device_index, label, flags, buffer, capacity,
                                     &needed, error));
  }
}
