// SPDX-License-Identifier: MIT OR Apache-2.0
// Strict reading of a scenario: a key that is never read is an error, so that a misspelt one
// does not leave a test asserting nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace fakes {

using json = nlohmann::json;

[[noreturn]] inline void refuse(const std::string& location, const std::string& reason) {
  throw std::runtime_error(location + ": " + reason);
}

class Object {
 public:
  Object(const json& value, std::string location) : value_(value), location_(std::move(location)) {
    if (!value_.is_object()) refuse(location_, "not an object");
  }

  const json* find(const std::string& key) {
    read_keys_.insert(key);
    const auto it = value_.find(key);
    return it == value_.end() ? nullptr : &*it;
  }

  std::string locate(const std::string& key) const { return location_ + "." + key; }
  const std::string& location() const { return location_; }

  void finish() const {
    for (const auto& [key, unused] : value_.items())
      if (!read_keys_.contains(key)) refuse(location_, "unknown key \"" + key + "\"");
  }

 private:
  const json& value_;
  std::string location_;
  std::set<std::string> read_keys_;
};

inline std::string parse_text(const json& value, const std::string& location) {
  if (!value.is_string()) refuse(location, "not a string");
  return value.get<std::string>();
}

inline bool parse_bool(const json& value, const std::string& location) {
  if (!value.is_boolean()) refuse(location, "not true or false");
  return value.get<bool>();
}

inline std::string read_text_or(Object& object, const std::string& key, std::string fallback) {
  const json* value = object.find(key);
  return value ? parse_text(*value, object.locate(key)) : std::move(fallback);
}

inline bool read_bool_or(Object& object, const std::string& key, bool fallback) {
  const json* value = object.find(key);
  return value ? parse_bool(*value, object.locate(key)) : fallback;
}

}  // namespace fakes
