// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading a scenario strictly: a key that nobody asked for is an error, so that a misspelt one
// does not leave a test asserting nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "scenario.hpp"

namespace fake_nvml {

using json = nlohmann::json;

class object {
 public:
  object(const json& value, std::string place) : value_(value), place_(std::move(place)) {
    if (!value_.is_object()) refuse(place_, "not an object");
  }

  const json* find(const std::string& key) {
    seen_.insert(key);
    const auto it = value_.find(key);
    return it == value_.end() ? nullptr : &*it;
  }

  std::string at(const std::string& key) const { return place_ + "." + key; }
  const std::string& place() const { return place_; }
  const json& value() const { return value_; }

  void finish() const {
    for (const auto& [key, unused] : value_.items())
      if (!seen_.contains(key)) refuse(place_, "unknown key \"" + key + "\"");
  }

 private:
  const json& value_;
  std::string place_;
  std::set<std::string> seen_;
};

// A number, "0x…" or "24 GiB".
unsigned long long number_from(const json& value, const std::string& place);
unsigned small_from(const json& value, const std::string& place);
std::string text_from(const json& value, const std::string& place);
bool truth_from(const json& value, const std::string& place);
status status_from(const json& value, const std::string& place);
std::vector<call> calls_from(const json& value, const std::string& place);

inline unsigned small_or(object& in, const std::string& key, unsigned fallback) {
  const json* value = in.find(key);
  return value ? small_from(*value, in.at(key)) : fallback;
}

inline unsigned long long number_or(object& in, const std::string& key,
                                    unsigned long long fallback) {
  const json* value = in.find(key);
  return value ? number_from(*value, in.at(key)) : fallback;
}

inline std::string text_or(object& in, const std::string& key, std::string fallback) {
  const json* value = in.find(key);
  return value ? text_from(*value, in.at(key)) : std::move(fallback);
}

inline bool truth_or(object& in, const std::string& key, bool fallback) {
  const json* value = in.find(key);
  return value ? truth_from(*value, in.at(key)) : fallback;
}

// {"error": CODE} in the place of any value; null: NOT_SUPPORTED.
std::optional<status> error_in(const json& value, const std::string& place);

template <class T, class Convert>
void take(object& in, const std::string& key, answer<T>& out, Convert convert) {
  const json* value = in.find(key);
  if (!value) return;
  if (const auto code = error_in(*value, in.at(key))) {
    out = {};
    out.result = *code;
    return;
  }
  out = answer<T>(convert(*value, in.at(key)));
}

inline void take(object& in, const std::string& key, answer<unsigned>& out) {
  take(in, key, out, small_from);
}

inline void take(object& in, const std::string& key, answer<unsigned long long>& out) {
  take(in, key, out, number_from);
}

inline void take(object& in, const std::string& key, answer<std::string>& out) {
  take(in, key, out, text_from);
}

void read_identity(object& in, device& out);
void read_memory(object& in, device& out);
void read_telemetry(object& in, device& out);
void read_processes(object& in, device& out);
void read_results(object& in, device& out);
void read_mig(object& in, device& out);

}  // namespace fake_nvml
