// SPDX-License-Identifier: MIT OR Apache-2.0
%nodefaultctor Tracker;
typedef struct {
} Tracker;

%newobject Context::tracker;
%newobject Tracker::info;
%newobject Tracker::read_tag;

%extend Context {
  Tracker *tracker(uint32_t device_index, hmn_flags flags, uint64_t limit_bytes, uint32_t tag_capacity, hmn_error *error) {
    hmn_tracker_options options = {sizeof options};
    hmn_tracker *made = NULL;
    options.flags = flags;
    options.limit_bytes = limit_bytes;
    options.tag_capacity = tag_capacity;
    hmn_tracker_create($self, device_index, &options, &made, error);
    return made;
  }
}

%extend Tracker {
  Tracker(hmn_flags flags, uint64_t limit_bytes, uint32_t tag_capacity, hmn_error *error) {
    hmn_tracker_options options = {sizeof options};
    hmn_tracker *made = NULL;
    options.flags = flags;
    options.limit_bytes = limit_bytes;
    options.tag_capacity = tag_capacity;
    hmn_tracker_create(NULL, 0, &options, &made, error);
    return made;
  }
  ~Tracker() { hmn_tracker_destroy($self); }

  void allocate(uint64_t bytes, uint32_t tag, hmn_error *error) {
    if (tag) hmn_tracker_allocate_tagged($self, tag, bytes, error);
    else hmn_tracker_allocate($self, bytes, error);
  }
  void release(uint64_t bytes, uint32_t tag, hmn_error *error) {
    if (tag) hmn_tracker_release_tagged($self, tag, bytes, error);
    else hmn_tracker_release($self, bytes, error);
  }
  /* 1: the bytes would fit, 0: they would not, which is not a failure. */
  uint32_t would_fit(uint64_t bytes, hmn_error *error) {
    const hmn_status status = hmn_tracker_would_fit($self, bytes, error);
    if (status == HMN_E_LIMIT) error->status = HMN_OK;
    return status == HMN_OK;
  }
  /* The flags are those of the options, because not every Lua has the number UINT64_MAX. */
  void set_limit(hmn_flags flags, uint64_t limit_bytes, hmn_error *error) {
    hmn_tracker_set_limit($self, flags & HMN_TRACKER_LIMITED ? limit_bytes : UINT64_MAX, error);
  }
  void reset(hmn_error *error) { hmn_tracker_reset($self, error); }
  uint32_t tag(const char *name, hmn_error *error) {
    uint32_t tag = 0;
    hmn_tracker_tag($self, name, &tag, error);
    return tag;
  }
  hmn_tracker_info *info(hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_tracker_info, hmn_tracker_read($self, out, error));
  }
  hmn_tag *read_tag(uint32_t tag, hmn_error *error) {
    HMN_ASK_IF_THERE(hmn_tag, hmn_tracker_read_tag($self, tag, out, error));
  }
}
