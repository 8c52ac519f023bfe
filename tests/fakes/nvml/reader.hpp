// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "../strict_json.hpp"
#include "scenario.hpp"

namespace fake_nvml {

using fakes::json;
using fakes::Object;
using fakes::parse_bool;
using fakes::parse_text;
using fakes::read_bool_or;
using fakes::read_text_or;
using fakes::refuse;

// A number, "0x…" or "24 GiB".
unsigned long long parse_number(const json& value, const std::string& location);
unsigned parse_unsigned(const json& value, const std::string& location);
Status parse_status(const json& value, const std::string& location);
std::vector<Call> parse_calls(const json& value, const std::string& location);

inline unsigned read_unsigned_or(Object& object, const std::string& key, unsigned fallback) {
  const json* value = object.find(key);
  return value ? parse_unsigned(*value, object.locate(key)) : fallback;
}

inline unsigned long long read_number_or(Object& object, const std::string& key,
                                         unsigned long long fallback) {
  const json* value = object.find(key);
  return value ? parse_number(*value, object.locate(key)) : fallback;
}

// {"error": CODE} in the place of any value; null: NOT_SUPPORTED.
std::optional<Status> parse_error(const json& value, const std::string& location);

template <class T, class Convert>
void read_answer(Object& object, const std::string& key, Answer<T>& out, Convert convert) {
  const json* value = object.find(key);
  if (!value) return;
  if (const auto code = parse_error(*value, object.locate(key))) {
    out = {};
    out.result = *code;
    return;
  }
  out = Answer<T>(convert(*value, object.locate(key)));
}

inline void read_answer(Object& object, const std::string& key, Answer<unsigned>& out) {
  read_answer(object, key, out, parse_unsigned);
}

inline void read_answer(Object& object, const std::string& key, Answer<unsigned long long>& out) {
  read_answer(object, key, out, parse_number);
}

inline void read_answer(Object& object, const std::string& key, Answer<std::string>& out) {
  read_answer(object, key, out, parse_text);
}

void read_identity(Object& object, Device& out);
void read_memory(Object& object, Device& out);
void read_telemetry(Object& object, Device& out);
void read_processes(Object& object, Device& out);
void read_results(Object& object, Device& out);
void read_mig(Object& object, Device& out);

}  // namespace fake_nvml
