// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/clock.hpp"
#include "platform/subprocess.hpp"

namespace test {

using Kind = hmn::platform::Outcome::Kind;

inline constexpr uint64_t second = hmn::platform::ns_per_second;

inline hmn::platform::Outcome run_program(std::string path, std::vector<std::string> arguments = {},
                                          uint64_t limit_ns = 20 * second, size_t cap = 1 << 20) {
  return hmn::platform::run({.path = std::move(path),
                             .arguments = std::move(arguments),
                             .deadline_ns = hmn::platform::monotonic_ns() + limit_ns,
                             .output_cap = cap});
}

inline hmn::platform::Outcome run_shell(std::string script, uint64_t limit_ns = 20 * second,
                                        size_t cap = 1 << 20) {
  return run_program("/bin/sh", {"-c", std::move(script)}, limit_ns, cap);
}

// Runs a script that prints a line and hangs, with a deadline that leaves time for the line.
inline hmn::platform::Outcome run_hanging(const std::string& script) {
  hmn::platform::Outcome result;
  for (uint64_t limit = second / 2; limit < 100 * second; limit *= 4) {
    result = run_shell(script, limit);
    if (!result.output.empty()) break;
  }
  return result;
}

// Returns whether programs run behind a supervisor here, not as plain children.
bool has_supervisors();

}  // namespace test
