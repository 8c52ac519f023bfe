// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prints snapshots as JSON, one on each line: an empty one, one with every field, and two of each
// machine file named on the command line.
#include <hypomnesis.h>

#include <cstdio>
#include <string>

#include "core/snapshot_json.hpp"
#include "sample.hpp"

static bool print(const hmn::Snapshot& snapshot) {
  std::string text(hmn::write_json({}, snapshot), '\0');
  if (hmn::write_json(text, snapshot) != text.size()) return false;
  return std::puts(text.c_str()) >= 0;
}

static bool print(const hmn_snapshot* snapshot) {
  std::uint32_t needed = 0;
  if (hmn_format_json(snapshot, 0, nullptr, 0, &needed, nullptr) != HMN_OK) return false;
  std::string text(needed, '\0');
  if (hmn_format_json(snapshot, 0, text.data(), needed, nullptr, nullptr) != HMN_OK) return false;
  return std::puts(text.c_str()) >= 0;
}

static bool print(hmn_context* context) {
  hmn_snapshot_options options{};
  options.struct_size = sizeof options;
  options.collect = 255;
  options.flags = HMN_SNAPSHOT_SLOW;
  hmn_snapshot* snapshot = nullptr;
  if (hmn_snapshot_take(context, &options, &snapshot, nullptr) != HMN_OK) return false;
  const bool ok = print(snapshot);
  hmn_snapshot_destroy(snapshot);
  return ok;
}

static bool print(const char* machine) {
  hmn_context_options options{};
  options.struct_size = sizeof options;
  options.flags = HMN_CONTEXT_TRACE;
  hmn_context* context = nullptr;
  if (hmn_context_create(&options, &context, nullptr) != HMN_OK) return false;
  const bool ok = hmn_context_set_path(context, HMN_PATH_SIMULATION, machine, nullptr) == HMN_OK &&
                  print(context) && print(context);
  hmn_context_destroy(context);
  return ok;
}

int main(int count, char** machines) {
  bool ok = print(hmn::Snapshot{}) && print(sample::make_full_snapshot());
  for (int i = 1; i < count; ++i) ok = ok && print(machines[i]);
  return ok ? 0 : 1;
}
