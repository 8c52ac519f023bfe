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
%newobject Snapshot::pool;
%newobject Snapshot::usage;
%newobject Snapshot::metric;
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
    HMN_LOOK(hmn_snapshot_info, hmn_snapshot_read($self, out));
  }
  hmn_process_memory *memory(hmn_error *error) {
    HMN_LOOK(hmn_process_memory, hmn_snapshot_memory($self, out));
  }
  hmn_system_memory *system(hmn_error *error) {
    HMN_LOOK(hmn_system_memory, hmn_snapshot_system($self, out));
  }
  hmn_device *device(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_device, hmn_snapshot_device($self, i, out));
  }
  hmn_telemetry *telemetry(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_telemetry, hmn_snapshot_telemetry($self, i, out));
  }
  hmn_usage *own_usage(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_usage, hmn_snapshot_self($self, i, out));
  }
  hmn_pool *pool(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_pool, hmn_snapshot_pool($self, i, out));
  }
  hmn_usage *usage(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_usage, hmn_snapshot_usage($self, i, out));
  }
  hmn_metric *metric(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_metric, hmn_snapshot_metric($self, i, out));
  }
  hmn_diagnostic *diagnostic(uint32_t i, hmn_error *error) {
    HMN_LOOK(hmn_diagnostic, hmn_snapshot_diagnostic($self, i, out));
  }
  hmn_diagnostic *reason(uint32_t device_index, uint32_t subject, uint32_t field, hmn_error *error) {
    HMN_LOOK(hmn_diagnostic, hmn_snapshot_reason($self, device_index, subject, field, out));
  }
  char *text(uint32_t text, uint32_t i, hmn_error *error) {
    HMN_TEXT(hmn_snapshot_text($self, text, i, buffer, capacity, &needed));
  }
  char *device_line(uint32_t i, uint32_t format, hmn_error *error) {
    HMN_TEXT(hmn_format_device($self, i, format, buffer, capacity, &needed));
  }
  char *json(hmn_error *error) {
    HMN_TEXT(hmn_format_json($self, buffer, capacity, &needed));
  }
  hmn_delta *delta_since(const Snapshot *before, uint32_t device_index, hmn_error *error) {
    HMN_LOOK(hmn_delta, hmn_report_read(before, $self, device_index, out));
  }
  char *delta_line(const Snapshot *before, uint32_t device_index, const char *label,
                   hmn_error *error) {
    HMN_TEXT(hmn_report_delta(before, $self, device_index, label, buffer, capacity, &needed));
  }
  char *before_after_lines(const Snapshot *before, uint32_t device_index, const char *label,
                           hmn_error *error) {
    HMN_TEXT(
        hmn_report_before_after(before, $self, device_index, label, buffer, capacity, &needed));
  }
}
