// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/commands/options.hpp"

namespace hmn::cli {

// Options of `hmn ps` as given on the command line.
struct ps_texts {
  std::optional<std::string> pid;
  std::optional<std::string> match;
  std::optional<std::string> sort;
  std::optional<std::string> by;
  std::optional<std::string> columns;
  bool unattributed = false;
  bool show_pools = false;
};

extern const char* const ps_examples;
void add_ps(CLI::App& app, ps_texts& into);
std::optional<failure> apply_ps(const ps_texts& from, options& to);

}  // namespace hmn::cli
