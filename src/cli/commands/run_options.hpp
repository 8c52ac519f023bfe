// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/expected.hpp"

namespace CLI {
class App;
}

namespace hmn::cli {

// What `hmn run` was asked for.
struct run_options {
  std::uint32_t interval_ms = 100;
  std::optional<std::string> record;
  std::optional<std::string> plot;
  std::optional<std::string> json;  // "-": standard output
};

// The same as it stands on the command line.
struct run_texts {
  std::optional<std::string> interval;
  std::optional<std::string> record;
  std::optional<std::string> plot;
  std::optional<std::string> json;
};

extern const char* const run_examples;
void add_run(CLI::App& app, run_texts& into);
std::optional<failure> apply_run(const run_texts& from, run_options& to);

}  // namespace hmn::cli
