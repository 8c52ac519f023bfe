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

struct FileStamp {
  unsigned long long device = 0, inode = 0, size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

inline constexpr unsigned counted_devices = 64;

struct EventSet {
  std::set<unsigned> registered;  // identities of the devices whose Xids it takes
  std::deque<EventData> come;
};

struct Driver {
  std::atomic<const Scenario*> scene{nullptr};
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
  std::atomic<Status> failure{success};

  std::atomic<unsigned long long> calls[call_count] = {};
  std::atomic<unsigned long long> device_calls[counted_devices][call_count] = {};

  std::mutex events;
  std::map<unsigned, EventSet> sets;
  unsigned sets_made = 0;
  unsigned long long waited_ms = 0;

  std::mutex opening;
  std::mutex loading;
  std::string loaded;  // what fake_nvml_load was given; empty: the environment decides
  std::string problem;
  FileStamp stamp;
  int reader = 0;  // "self" in the scenario is this process; a forked child reads it again
  std::vector<std::unique_ptr<Scenario>> scenes;  // calls in flight may still read an old one
  std::map<std::string, unsigned> identities;
};

// Never destroyed: at exit a thread of the library under test may still be inside a call.
Driver& the_driver();

bool load(Driver& d, const std::string& path_or_json);
// Reads the scenario again when its file has changed; with `always`, in any case.
bool refresh(Driver& d, bool always);
void set_log(Driver& d, const char* path);
void end_sessions(Driver& d);
// Signals the sets that have the device registered, no others.
void raise_xid(Driver& d, const Device& target, unsigned long long xid);

DeviceHandle handle_of(const Driver& d, const Device& target);
const Device* device_of(const Driver& d, const Scenario& scene, DeviceHandle handle, Status& why);

// One call's way through the driver: counts it, then applies the scenario's rules.
class Visit {
 public:
  enum Session { needed, not_needed };

  explicit Visit(Call which, Session s = needed);
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit();

  bool has_scene() const { return scene_ != nullptr; }
  const Scenario& scene() const { return *scene_; }
  Driver& home() const { return driver_; }

  // Takes up a scenario that was loaded since the visit began; false: there is none.
  bool see_latest() { return (scene_ = driver_.scene.load()) && !driver_.broken.load(); }

  // False when the call ends here, with its return code in result().
  bool admitted(const Device* target = nullptr);
  bool admitted(DeviceHandle handle, const Device*& target);

  Status result() const { return result_; }
  Status done(Status result) { return result_ = result; }

 private:
  bool obeys_rules(const Device* target);
  bool refuse(Status why);

  Driver& driver_;
  const Scenario* scene_;
  Call call_;
  Session session_;
  Status result_ = success;
  unsigned device_ = counted_devices;
};

template <class Body>
Status on_device(Call which, DeviceHandle handle, Body body) {
  Visit v(which);
  const Device* target = nullptr;
  if (!v.admitted(handle, target)) return v.result();
  return v.done(body(*target, v));
}

// The lie of the call that this thread is in.
struct LieOfCall {
  Lie how = Lie::none;
  unsigned long long call = 0;  // of the rule, counted from 1
};
inline thread_local LieOfCall present_lie;

void distort(void* to, std::size_t size);

// Writes an output, as honestly as the call is to be.
template <class T>
void put(T* to, const T& value) {
  *to = value;
  distort(to, sizeof *to);
  if constexpr (std::is_integral_v<T>) {
    if (present_lie.how == Lie::growing) *to += static_cast<T>(present_lie.call);
  }
}

template <class T>
Status give(const Answer<T>& from, T* to) {
  if (!to) return error_invalid_argument;
  if (from.result == success) put(to, from.value);
  return from.result;
}

template <class T>
Status read(Call which, DeviceHandle handle, T* to, Answer<T> Device::*from) {
  return on_device(which, handle,
                   [&](const Device& target, Visit&) { return give(target.*from, to); });
}

Status write_text(const std::string& text, char* to, unsigned length);

}  // namespace fake_nvml

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))
