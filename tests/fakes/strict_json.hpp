// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading a scenario strictly: a key that is never read is an error, so that a misspelt one
// does not leave a test asserting nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace fakes {

using json = nlohmann::json;

[[noreturn]] inline void refuse(const std::string& place, const std::string& reason) {
  throw std::runtime_error(place + ": " + reason);
}

class Object {
 public:
  Object(const json& value, std::string place) : value_(value), place_(std::move(place)) {
    if (!value_.is_object()) refuse(place_, "not an object");
  }

  const json* find(const std::string& key) {
    seen_.insert(key);
    const auto it = value_.find(key);
    return it == value_.end() ? nullptr : &*it;
  }

  std::string at(const std::string& key) const { return place_ + "." + key; }
  const std::string& place() const { return place_; }

  void finish() const {
    for (const auto& [key, unused] : value_.items())
      if (!seen_.contains(key)) refuse(place_, "unknown key \"" + key + "\"");
  }

 private:
  const json& value_;
  std::string place_;
  std::set<std::string> seen_;
};

inline std::string text_from(const json& value, const std::string& place) {
  if (!value.is_string()) refuse(place, "not a string");
  return value.get<std::string>();
}

inline bool truth_from(const json& value, const std::string& place) {
  if (!value.is_boolean()) refuse(place, "not true or false");
  return value.get<bool>();
}

inline std::string text_or(Object& in, const std::string& key, std::string fallback) {
  const json* value = in.find(key);
  return value ? text_from(*value, in.at(key)) : std::move(fallback);
}

inline bool truth_or(Object& in, const std::string& key, bool fallback) {
  const json* value = in.find(key);
  return value ? truth_from(*value, in.at(key)) : fallback;
}

}  // namespace fakes
