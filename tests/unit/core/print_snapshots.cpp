// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prints snapshots as JSON, one on each line: an empty one, one with every field, and two of each
// machine file named on the command line.
#include <hypomnesis.h>

#include <cstdio>
#include <string>

#include "core/snapshot_json.hpp"
#include "sample.hpp"

static bool print(const hmn::Snapshot& s) {
  std::string text(hmn::write_json({}, s), '\0');
  if (hmn::write_json(text, s) != text.size()) return false;
  return std::puts(text.c_str()) >= 0;
}

static bool print(const hmn_snapshot* s) {
  std::uint32_t needed = 0;
  if (hmn_format_json(s, 0, nullptr, 0, &needed, nullptr) != HMN_OK) return false;
  std::string text(needed, '\0');
  if (hmn_format_json(s, 0, text.data(), needed, nullptr, nullptr) != HMN_OK) return false;
  return std::puts(text.c_str()) >= 0;
}

static bool print(hmn_context* context) {
  hmn_snapshot_options o{};
  o.struct_size = sizeof o;
  o.collect = 255;
  o.flags = HMN_SNAPSHOT_SLOW;
  hmn_snapshot* s = nullptr;
  if (hmn_snapshot_take(context, &o, &s, nullptr) != HMN_OK) return false;
  const bool printed = print(s);
  hmn_snapshot_destroy(s);
  return printed;
}

static bool print(const char* machine) {
  hmn_context_options o{};
  o.struct_size = sizeof o;
  o.flags = HMN_CONTEXT_TRACE;
  hmn_context* context = nullptr;
  if (hmn_context_create(&o, &context, nullptr) != HMN_OK) return false;
  const bool printed =
      hmn_context_set_path(context, HMN_PATH_SIMULATION, machine, nullptr) == HMN_OK &&
      print(context) && print(context);
  hmn_context_destroy(context);
  return printed;
}

int main(int count, char** machines) {
  bool all = print(hmn::Snapshot{}) && print(sample::full());
  for (int i = 1; i < count; ++i) all = all && print(machines[i]);
  return all ? 0 : 1;
}
