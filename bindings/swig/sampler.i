// SPDX-License-Identifier: MIT OR Apache-2.0
%nodefaultctor Sampler;
typedef struct {
} Sampler;

%newobject Context::sampler;
%newobject Sampler::next;
%newobject Sampler::info;
%newobject Sampler::latest_pool;
%newobject Sampler::latest_telemetry;
%newobject Sampler::peak;
%newobject Sampler::device_peak;

%extend Context {
  Sampler *sampler(hmn_flags sampler_flags, uint64_t interval_ns, uint64_t process_interval_ns,
                   uint32_t capacity, hmn_flags flags, hmn_flags collect, uint32_t device_index,
                   uint32_t pid, uint64_t deadline_ns, hmn_error *error) {
    hmn_sampler_options options = {sizeof options};
    hmn_snapshot_options what = {sizeof what};
    hmn_sampler *made = NULL;
    options.flags = sampler_flags;
    options.interval_ns = interval_ns;
    options.process_interval_ns = process_interval_ns;
    options.capacity = capacity;
    what.flags = flags;
    what.collect = collect;
    what.device_index = device_index;
    what.pid = pid;
    what.deadline_ns = deadline_ns;
    hmn_sampler_create($self, &options, &what, &made, error);
    return made;
  }
}

%extend Sampler {
  ~Sampler() { hmn_sampler_destroy($self); }

  int64_t handle(hmn_error *error) {
    int64_t made = -1;
    hmn_sampler_handle($self, &made, error);
    return made;
  }
  void start(hmn_error *error) { hmn_sampler_start($self, error); }
  void stop(hmn_error *error) { hmn_sampler_stop($self, error); }
  Snapshot *next(uint64_t timeout_ns, hmn_error *error) {
    hmn_snapshot *pulled = NULL;
    hmn_sampler_next($self, timeout_ns, &pulled, error);
    return pulled;
  }
  hmn_sampler_info *info(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_sampler_info, hmn_sampler_read($self, out, error));
  }
  hmn_pool *latest_pool(uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_pool, hmn_sampler_latest_pool($self, device_index, out, error));
  }
  hmn_telemetry *latest_telemetry(uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_telemetry, hmn_sampler_latest_telemetry($self, device_index, out, error));
  }
  hmn_peak *peak(uint32_t device_index, uint32_t pid, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_peak, hmn_sampler_peak($self, device_index, pid, out, error));
  }
  hmn_peak *device_peak(uint32_t device_index, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_peak, hmn_sampler_peak_device($self, device_index, out, error));
  }
}
