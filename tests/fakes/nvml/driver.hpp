// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "scenario.hpp"

namespace fake_nvml {

struct file_stamp {
  unsigned long long device = 0, inode = 0, size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const file_stamp&) const = default;
};

inline constexpr unsigned counted_devices = 64;

struct event_set {
  std::set<unsigned> registered;  // identities of the devices whose Xids it takes
  std::deque<event_data> come;
};

struct driver {
  std::atomic<const scenario*> scene{nullptr};
  std::atomic<int> sessions{0};
  std::atomic<unsigned> generation{0};
  std::atomic<unsigned> init_flags{0};

  std::atomic<int> inside{0};
  std::atomic<int> hanging{0};
  std::atomic<int> lock_holders{0};
  std::atomic<unsigned> releases{0};
  std::atomic<bool> broken{false};  // the scenario could not be read
  std::atomic<int> log{-1};

  std::atomic<unsigned long long> calls_to_failure{0};  // 0: none is to fail
  std::atomic<status> failure{success};

  std::atomic<unsigned long long> calls[call_count] = {};
  std::atomic<unsigned long long> device_calls[counted_devices][call_count] = {};

  std::mutex events;
  std::map<unsigned, event_set> sets;
  unsigned sets_made = 0;
  unsigned long long waited_ms = 0;

  std::mutex opening;
  std::mutex loading;
  std::string loaded;  // what fake_nvml_load was given; empty: the environment decides
  std::string problem;
  file_stamp stamp;
  int reader = 0;  // "self" in the scenario is this process; a forked child reads it again
  std::vector<std::unique_ptr<scenario>> scenes;  // calls in flight may still read an old one
  std::map<std::string, unsigned> identities;
};

// Never destroyed: at exit a thread of the library under test may still be inside a call.
driver& the_driver();

bool load(driver& d, const std::string& path_or_json);
// Reads the scenario again when its file has changed; with `always`, in any case.
bool refresh(driver& d, bool always);
void set_log(driver& d, const char* path);
void end_sessions(driver& d);
// Signals the sets that have the device registered, no others.
void raise_xid(driver& d, const device& target, unsigned long long xid);

device_handle handle_of(const driver& d, const device& target);
const device* device_of(const driver& d, const scenario& scene, device_handle handle, status& why);

// One call's way through the driver: counts it, then applies the scenario's rules.
class visit {
 public:
  enum session { needed, not_needed };

  explicit visit(call which, session s = needed);
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit();

  bool has_scene() const { return scene_ != nullptr; }
  const scenario& scene() const { return *scene_; }
  driver& home() const { return driver_; }

  // Takes up a scenario that was loaded since the visit began; false: there is none.
  bool see_latest() { return (scene_ = driver_.scene.load()) && !driver_.broken.load(); }

  // False when the call ends here, with its return code in result().
  bool admitted(const device* target = nullptr);
  bool admitted(device_handle handle, const device*& target);

  status result() const { return result_; }
  status done(status result) { return result_ = result; }

 private:
  bool obeys_rules(const device* target);
  bool refuse(status why);

  driver& driver_;
  const scenario* scene_;
  call call_;
  session session_;
  status result_ = success;
  unsigned device_ = counted_devices;
};

template <class Body>
status on_device(call which, device_handle handle, Body body) {
  visit v(which);
  const device* target = nullptr;
  if (!v.admitted(handle, target)) return v.result();
  return v.done(body(*target, v));
}

// The lie of the call that this thread is in.
struct lie_of_call {
  lie how = lie::none;
  unsigned long long call = 0;  // of the rule, counted from 1
};
inline thread_local lie_of_call present_lie;

void distort(void* to, std::size_t size);

// Writes an output, as honestly as the call is to be.
template <class T>
void put(T* to, const T& value) {
  *to = value;
  distort(to, sizeof *to);
  if constexpr (std::is_integral_v<T>) {
    if (present_lie.how == lie::growing) *to += static_cast<T>(present_lie.call);
  }
}

template <class T>
status give(const answer<T>& from, T* to) {
  if (!to) return error_invalid_argument;
  if (from.result == success) put(to, from.value);
  return from.result;
}

template <class T>
status read(call which, device_handle handle, T* to, answer<T> device::*from) {
  return on_device(which, handle,
                   [&](const device& target, visit&) { return give(target.*from, to); });
}

status write_text(const std::string& text, char* to, unsigned length);

}  // namespace fake_nvml

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))
