// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace CLI {
class App;
}

namespace hmn::cli {

// What `hmn watch` was asked for.
struct watch_options {
  std::vector<std::uint32_t> pids;  // empty: those that use most
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> duration_ms;
  std::uint32_t top = 5;
  bool follow_new = false;
};

// The same as it stands on the command line.
struct watch_texts {
  std::vector<std::string> pids;
  std::optional<std::string> interval;
  std::optional<std::string> duration;
  std::optional<std::string> top;
  bool follow_new = false;
};

extern const char* const watch_examples;
void add_watch(CLI::App& app, watch_texts& into);
std::optional<failure> apply_watch(const watch_texts& from, watch_options& to);

}  // namespace hmn::cli
