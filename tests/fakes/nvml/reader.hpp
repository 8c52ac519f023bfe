// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "../strict_json.hpp"
#include "scenario.hpp"

namespace fake_nvml {

using fakes::json;
using fakes::Object;
using fakes::refuse;
using fakes::text_from;
using fakes::text_or;
using fakes::truth_from;
using fakes::truth_or;

// A number, "0x…" or "24 GiB".
unsigned long long number_from(const json& value, const std::string& place);
unsigned small_from(const json& value, const std::string& place);
Status status_from(const json& value, const std::string& place);
std::vector<Call> calls_from(const json& value, const std::string& place);

inline unsigned small_or(Object& in, const std::string& key, unsigned fallback) {
  const json* value = in.find(key);
  return value ? small_from(*value, in.at(key)) : fallback;
}

inline unsigned long long number_or(Object& in, const std::string& key,
                                    unsigned long long fallback) {
  const json* value = in.find(key);
  return value ? number_from(*value, in.at(key)) : fallback;
}

// {"error": CODE} in the place of any value; null: NOT_SUPPORTED.
std::optional<Status> error_in(const json& value, const std::string& place);

template <class T, class Convert>
void take(Object& in, const std::string& key, Answer<T>& out, Convert convert) {
  const json* value = in.find(key);
  if (!value) return;
  if (const auto code = error_in(*value, in.at(key))) {
    out = {};
    out.result = *code;
    return;
  }
  out = Answer<T>(convert(*value, in.at(key)));
}

inline void take(Object& in, const std::string& key, Answer<unsigned>& out) {
  take(in, key, out, small_from);
}

inline void take(Object& in, const std::string& key, Answer<unsigned long long>& out) {
  take(in, key, out, number_from);
}

inline void take(Object& in, const std::string& key, Answer<std::string>& out) {
  take(in, key, out, text_from);
}

void read_identity(Object& in, Device& out);
void read_memory(Object& in, Device& out);
void read_telemetry(Object& in, Device& out);
void read_processes(Object& in, Device& out);
void read_results(Object& in, Device& out);
void read_mig(Object& in, Device& out);

}  // namespace fake_nvml
