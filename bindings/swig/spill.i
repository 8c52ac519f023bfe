// SPDX-License-Identifier: MIT OR Apache-2.0
%nodefaultctor Spill;
typedef struct {
} Spill;

%newobject Context::spill;
%newobject lone_spill;
%newobject Spill::info;
%newobject Spill::episode;

%extend Context {
  Spill *spill(uint32_t device_index, uint32_t episode_capacity, uint64_t dedicated_threshold_bytes,
               uint64_t growth_bytes, hmn_error *error) {
    hmn_spill_options options = {sizeof options};
    hmn_spill *made = NULL;
    options.episode_capacity = episode_capacity;
    options.dedicated_threshold_bytes = dedicated_threshold_bytes;
    options.growth_bytes = growth_bytes;
    hmn_spill_create($self, device_index, &options, &made, error);
    return made;
  }
}

%inline %{
/* Without a context: it is fed, or observes snapshots. */
Spill *lone_spill(uint32_t device_index, uint32_t episode_capacity, uint64_t dedicated_threshold_bytes,
                  uint64_t growth_bytes, hmn_error *error) {
  hmn_spill_options options = {sizeof options};
  hmn_spill *made = NULL;
  options.episode_capacity = episode_capacity;
  options.dedicated_threshold_bytes = dedicated_threshold_bytes;
  options.growth_bytes = growth_bytes;
  hmn_spill_create(NULL, device_index, &options, &made, error);
  return made;
}
%}

%extend Spill {
  ~Spill() { hmn_spill_destroy($self); }

  void observe(const char *label, hmn_error *error) { hmn_spill_observe($self, label, error); }
  void observe_snapshot(const Snapshot *snapshot, const char *label, hmn_error *error) {
    hmn_spill_observe_snapshot($self, snapshot, label, error);
  }
  void feed(hmn_flags flags, uint64_t monotonic_ns, uint64_t dedicated_bytes, uint64_t shared_bytes,
            uint64_t limit_bytes, uint64_t evicted_bytes, const char *label, hmn_error *error) {
    hmn_spill_sample sample = {sizeof sample};
    sample.flags = flags;
    sample.monotonic_ns = monotonic_ns;
    sample.dedicated_bytes = dedicated_bytes;
    sample.shared_bytes = shared_bytes;
    sample.limit_bytes = limit_bytes;
    sample.evicted_bytes = evicted_bytes;
    hmn_spill_feed($self, &sample, label, error);
  }
  hmn_spill_info *info(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_spill_info, hmn_spill_read($self, out, error));
  }
  hmn_episode *episode(uint64_t number, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_episode, hmn_spill_episode($self, number, out, error));
  }
}
