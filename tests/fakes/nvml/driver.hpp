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
  std::set<unsigned> registered;  // identities of the devices whose Xids it receives
  std::deque<EventData> pending;
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

  std::atomic<unsigned long long> calls_to_failure{0};  // 0: no failure
  std::atomic<Status> failure{success};

  std::atomic<unsigned long long> calls[call_count] = {};
  std::atomic<unsigned long long> device_calls[counted_devices][call_count] = {};

  std::mutex events;
  std::map<unsigned, EventSet> sets;
  unsigned set_count = 0;
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
Driver& get_driver();

bool load(Driver& driver, const std::string& path_or_json);
// Reads the scenario again when its file has changed; with `always`, in any case.
bool refresh(Driver& driver, bool always);
void set_log(Driver& driver, const char* path);
void end_sessions(Driver& driver);
// Signals the sets that have the device registered, no others.
void raise_xid(Driver& driver, const Device& target, unsigned long long xid);

DeviceHandle make_handle(const Driver& driver, const Device& target);
const Device* find_device(const Driver& driver, const Scenario& scene, DeviceHandle handle,
                          Status& error);

// Guards one call of the driver: counts it, then applies the scenario's rules.
class Visit {
 public:
  enum Session { needed, not_needed };

  explicit Visit(Call function, Session session = needed);
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit();

  bool has_scene() const { return scene_ != nullptr; }
  const Scenario& scene() const { return *scene_; }
  Driver& driver() const { return driver_; }

  // Switches to a scenario that was loaded meanwhile; false: there is none.
  bool reload() { return (scene_ = driver_.scene.load()) && !driver_.broken.load(); }

  // False when the call ends here, with its return code in result().
  bool admit(const Device* target = nullptr);
  bool admit(DeviceHandle handle, const Device*& target);

  Status result() const { return result_; }
  Status finish(Status result) { return result_ = result; }

 private:
  bool apply_rules(const Device* target);
  bool refuse(Status error);

  Driver& driver_;
  const Scenario* scene_;
  Call call_;
  Session session_;
  Status result_ = success;
  unsigned device_ = counted_devices;
};

template <class Body>
Status with_device(Call function, DeviceHandle handle, Body body) {
  Visit visit(function);
  const Device* target = nullptr;
  if (!visit.admit(handle, target)) return visit.result();
  return visit.finish(body(*target, visit));
}

// The lie of the call that this thread is in.
struct CallLie {
  Lie lie = Lie::none;
  unsigned long long call_number = 0;  // of the rule, counted from 1
};
inline thread_local CallLie current_lie;

void distort(void* target, std::size_t size);

// Writes an output, distorted by the lie of the call if there is one.
template <class T>
void write_value(T* target, const T& value) {
  *target = value;
  distort(target, sizeof *target);
  if constexpr (std::is_integral_v<T>) {
    if (current_lie.lie == Lie::growing) *target += static_cast<T>(current_lie.call_number);
  }
}

template <class T>
Status write_answer(const Answer<T>& answer, T* target) {
  if (!target) return error_invalid_argument;
  if (answer.result == success) write_value(target, answer.value);
  return answer.result;
}

template <class T>
Status read_member(Call function, DeviceHandle handle, T* output, Answer<T> Device::*member) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    return write_answer(target.*member, output);
  });
}

Status write_text(const std::string& text, char* buffer, unsigned length);

}  // namespace fake_nvml

#define FAKE_NVML_EXPORT extern "C" __attribute__((visibility("default")))
