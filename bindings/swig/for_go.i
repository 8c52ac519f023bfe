// SPDX-License-Identifier: MIT OR Apache-2.0
// Records are passed to Go as structs with the layout of C (bindings/go/internal/raw/records.go), each copied
// whole, and lists of a snapshot in one call. An error is such a record, too; the caller sets its size.

%insert(cgo_comment) %{
#cgo CFLAGS: -I${SRCDIR}
#cgo !hypomnesis_dlopen pkg-config: hypomnesis
#cgo hypomnesis_dlopen,!windows LDFLAGS: -ldl
%}
%go_import("strings")

// The public package has the constants in Go; a test compares them with abi.json.
%rename("$ignore", %$isconstant) "";
%rename("%(camelcase)s", %$isfunction) "";

%typemap(gotype) uint32_t, hmn_flags "uint32"
%typemap(gotype) int32_t, hmn_status "int32"

// Text from C: static, or allocated for the caller, who frees it; NULL is "".
%typemap(out) const char * %{
  $result.p = (char *)$1;
  $result.n = $1 ? strlen($1) : 0;
%}
%typemap(goout) const char * %{ $result = strings.Clone($1) %}
%typemap(out) char * = const char *;
%typemap(goout) char * %{ $result = takeText($1) %}
%typemap(newfree) char * ""

// Text for C: terminated by the caller; nil is NULL.
%define HMN_GO_TEXT(parameter)
%typemap(gotype) const char *parameter "[]byte"
%typemap(in) const char *parameter %{ $1 = (char *)$input.array; %}
%typemap(freearg) const char *parameter ""
%typemap(argout) const char *parameter ""
%enddef
HMN_GO_TEXT(value)
HMN_GO_TEXT(key)
HMN_GO_TEXT(label)
HMN_GO_TEXT(name)

%typemap(gotype) (char *buffer, uint32_t capacity) "[]byte"
%typemap(in) (char *buffer, uint32_t capacity) %{
  $1 = (char *)$input.array;
  $2 = (uint32_t)$input.len;
%}

%typemap(gotype) (const hmn_u64 *list, uint32_t count) "[]uint64"
%typemap(in) (const hmn_u64 *list, uint32_t count) %{
  $1 = (hmn_u64 *)$input.array;
  $2 = (uint32_t)$input.len;
%}

// A second number of the result.
%typemap(gotype) hmn_u64 *generation "*uint64"
%typemap(in) hmn_u64 *generation %{ $1 = (hmn_u64 *)$input; %}

%define HMN_GO_RECORD(record, Type)
%ignore record;
%typemap(gotype) record * "*Type"
%typemap(in) record * %{ $1 = (record *)$input; %}
%typemap(out) record * %{ $result = (void *)$1; %}
%typemap(goout) record * %{ $result = take($1) %}
%typemap(gotype) (record *first, uint32_t count) "[]Type"
%typemap(in) (record *first, uint32_t count) %{
  $1 = (record *)$input.array;
  $2 = (uint32_t)$input.len;
%}
%enddef
HMN_GO_RECORD(hmn_error, Error)
HMN_GO_RECORD(hmn_backend_info, BackendInfo)
HMN_GO_RECORD(hmn_process_memory, ProcessMemory)
HMN_GO_RECORD(hmn_system_memory, SystemMemory)
HMN_GO_RECORD(hmn_device, Device)
HMN_GO_RECORD(hmn_pool, Pool)
HMN_GO_RECORD(hmn_telemetry, Telemetry)
HMN_GO_RECORD(hmn_metric, Metric)
HMN_GO_RECORD(hmn_usage, Usage)
HMN_GO_RECORD(hmn_group, Group)
HMN_GO_RECORD(hmn_snapshot_info, SnapshotInfo)
HMN_GO_RECORD(hmn_diagnostic, Diagnostic)
HMN_GO_RECORD(hmn_delta, Delta)
HMN_GO_RECORD(hmn_sampler_info, SamplerInfo)
HMN_GO_RECORD(hmn_peak, Peak)
HMN_GO_RECORD(hmn_tracker_info, TrackerInfo)
HMN_GO_RECORD(hmn_tag, Tag)
HMN_GO_RECORD(hmn_spill_info, SpillInfo)
HMN_GO_RECORD(hmn_episode, Episode)

// Fills a list, starting with the snapshot's first record. The caller has set struct_size of the first one to the
// size of each in Go. A record that the snapshot does not have gets struct_size 0.
%define HMN_GO_LIST(record, method, function)
%extend Snapshot {
  void method(record *first, uint32_t count, hmn_error *error) {
    const uint32_t size = count ? first->struct_size : 0;
    uint32_t i;
    for (i = 0; i < count && error->status == HMN_OK; i++) {
      record *out = (record *)((char *)first + (size_t)i * size);
      hmn_status status;
      out->struct_size = size;
      status = function($self, i, out, error);
      if (status != HMN_E_EMPTY) continue;
      out->struct_size = 0;
      error->status = HMN_OK;
    }
  }
}
%enddef
HMN_GO_LIST(hmn_device, devices, hmn_snapshot_device_at)
// The telemetry and own usage of the device at a position; HMN_E_EMPTY where there are none.
%{
static hmn_status hmn_go_telemetry(const hmn_snapshot *snapshot, uint32_t position, hmn_telemetry *out,
                                   hmn_error *error) {
  hmn_device device = {sizeof device};
  const hmn_status status = hmn_snapshot_device_at(snapshot, position, &device, error);
  return status == HMN_OK ? hmn_snapshot_find_telemetry(snapshot, device.index, out, error) : status;
}
static hmn_status hmn_go_own_usage(const hmn_snapshot *snapshot, uint32_t position, hmn_usage *out,
                                   hmn_error *error) {
  hmn_device device = {sizeof device};
  const hmn_status status = hmn_snapshot_device_at(snapshot, position, &device, error);
  return status == HMN_OK ? hmn_snapshot_find_self(snapshot, device.index, out, error) : status;
}
%}
HMN_GO_LIST(hmn_telemetry, telemetries, hmn_go_telemetry)
HMN_GO_LIST(hmn_usage, own_usages, hmn_go_own_usage)
HMN_GO_LIST(hmn_pool, pools, hmn_snapshot_pool_at)
HMN_GO_LIST(hmn_usage, usages, hmn_snapshot_usage_at)
HMN_GO_LIST(hmn_metric, metrics, hmn_snapshot_metric_at)
HMN_GO_LIST(hmn_group, groups, hmn_snapshot_group_at)
HMN_GO_LIST(hmn_diagnostic, diagnostics, hmn_snapshot_diagnostic_at)

%extend Snapshot {
  /* One text of each of `count` rows in a buffer, each terminated: "=" and the text, or nothing where it is
   * not known. Returns the bytes needed; if they exceed the capacity, the contents of the buffer are not
   * usable. */
  uint32_t texts(uint32_t text, uint32_t count, char *buffer, uint32_t capacity, hmn_error *error) {
    uint32_t used = 0, i;
    for (i = 0; i < count; i++) {
      uint32_t needed = 0;
      const uint32_t left = used + 1 < capacity ? capacity - used - 1 : 0;
      hmn_status status = hmn_snapshot_text_at($self, text, i, left ? buffer + used + 1 : NULL, left, &needed, error);
      if (status == HMN_E_EMPTY) needed = 0;
      else if (status != HMN_OK && status != HMN_E_BUFFER) return used;
      if (used < capacity) buffer[used] = needed ? '=' : '\0';
      used += needed + 1;
    }
    error->status = HMN_OK;
    return used;
  }
}
