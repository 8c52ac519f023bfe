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

// What `hmn spill` was asked for.
struct spill_options {
  std::uint32_t interval_ms = 100;
  std::optional<std::string> json;  // "-": standard output
};

// The same as it stands on the command line.
struct spill_texts {
  std::optional<std::string> interval;
  std::optional<std::string> json;
};

extern const char* const spill_examples;
void add_spill(CLI::App& app, spill_texts& into);
std::optional<failure> apply_spill(const spill_texts& from, spill_options& to);

}  // namespace hmn::cli
