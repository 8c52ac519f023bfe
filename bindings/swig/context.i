// SPDX-License-Identifier: MIT OR Apache-2.0
%nodefaultctor Context;
typedef struct {
} Context;

%newobject Context::backend;
%newobject Context::process_memory;
%newobject Context::own_memory;
%newobject Context::system_memory;
%newobject Context::device;
%newobject Context::pool;
%newobject Context::telemetry;
%newobject Context::metric;
%newobject Context::usage;
%newobject Context::own_usage;
%newobject Context::take;
%newobject Context::recording;

%extend Context {
  Context(hmn_flags flags, uint64_t deadline_ns, uint64_t stale_ns, uint64_t open_deadline_ns,
          uint64_t max_age_ns, uint64_t idle_close_ns, uint64_t rescan_ns, uint64_t backends_off,
          uint32_t rescan_percent, uint32_t device_classes, hmn_error *error) {
    hmn_context_options options = {sizeof options};
    hmn_context *made = NULL;
    options.flags = flags;
    options.deadline_ns = deadline_ns;
    options.stale_ns = stale_ns;
    options.open_deadline_ns = open_deadline_ns;
    options.max_age_ns = max_age_ns;
    options.idle_close_ns = idle_close_ns;
    options.rescan_ns = rescan_ns;
    options.backends_off = backends_off;
    options.rescan_percent = rescan_percent;
    options.device_classes = device_classes;
    hmn_context_create(&options, &made, error);
    return made;
  }
  ~Context() { hmn_context_destroy($self); }

  void set_path(uint32_t path, const char *value, hmn_error *error) {
    hmn_context_set_path($self, path, value, error);
  }
  hmn_backend_info *backend(uint32_t backend, hmn_error *error) {
    HMN_ASK(hmn_backend_info, hmn_context_backend($self, backend, out, error));
  }
  void cancel(hmn_error *error) { hmn_context_cancel($self, error); }
  void resume(hmn_error *error) { hmn_context_resume($self, error); }
  char *recording(hmn_error *error) {
    HMN_TEXT(hmn_context_recording($self, 0, buffer, capacity, &needed, error));
  }
  hmn_process_memory *process_memory(uint32_t pid, hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_process_memory, hmn_process_memory_read($self, pid, fields, out, error));
  }
  hmn_process_memory *own_memory(hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_process_memory, hmn_process_memory_read_self($self, fields, out, error));
  }
  hmn_system_memory *system_memory(hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_system_memory, hmn_system_memory_read($self, fields, out, error));
  }
  uint32_t scan(hmn_u64 *generation, hmn_error *error) {
    uint32_t count = 0;
    hmn_device_scan($self, &count, generation, error);
    return count;
  }
  uint32_t find_device(const char *key, hmn_error *error) {
    uint32_t index = 0;
    hmn_device_find($self, key, &index, error);
    return index;
  }
  hmn_device *device(uint32_t device_index, hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_device, hmn_device_read($self, device_index, fields, out, error));
  }
  hmn_pool *pool(uint32_t device_index, uint32_t kind, uint32_t instance, hmn_fields fields,
                 hmn_error *error) {
    HMN_ASK(hmn_pool, hmn_pool_read($self, device_index, kind, instance, fields, out, error));
  }
  hmn_telemetry *telemetry(uint32_t device_index, hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_telemetry, hmn_telemetry_read($self, device_index, fields, out, error));
  }
  hmn_metric *metric(uint32_t device_index, uint32_t metric, uint32_t instance, hmn_fields fields,
                     hmn_error *error) {
    hmn_metric_key key = {sizeof key};
    key.id = metric;
    key.instance = instance;
    HMN_ASK(hmn_metric, hmn_metric_read($self, device_index, &key, fields, out, error));
  }
  hmn_usage *usage(uint32_t device_index, uint32_t pid, hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_usage, hmn_usage_read($self, device_index, pid, fields, out, error));
  }
  hmn_usage *own_usage(uint32_t device_index, hmn_fields fields, hmn_error *error) {
    HMN_ASK(hmn_usage, hmn_usage_read_self($self, device_index, fields, out, error));
  }
  Snapshot *take(hmn_flags flags, hmn_flags collect, uint32_t device_index, uint32_t pid,
                     uint64_t deadline_ns, hmn_error *error) {
    hmn_snapshot_options options = {sizeof options};
    hmn_snapshot *taken = NULL;
    options.flags = flags;
    options.collect = collect;
    options.device_index = device_index;
    options.pid = pid;
    options.deadline_ns = deadline_ns;
    hmn_snapshot_take($self, &options, &taken, error);
    return taken;
  }
}
