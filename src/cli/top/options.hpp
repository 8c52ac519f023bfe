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

// Parsed options of `hmn top`.
struct top_options {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> frames;
  bool once = false;
  std::optional<std::string> user;
};

// Options of `hmn top` as given on the command line.
struct top_texts {
  std::optional<std::string> interval;
  std::optional<std::string> frames;
  std::optional<std::string> user;
  bool once = false;
};

extern const char* const top_examples;
void add_top(CLI::App& app, top_texts& into);
std::optional<failure> apply_top(const top_texts& from, top_options& to);

}  // namespace hmn::cli
