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

// What `hmn wait` was asked for.
struct wait_options {
  std::uint64_t bytes = 0;
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> timeout_ms;
};

// The same as it stands on the command line.
struct wait_texts {
  std::optional<std::string> free;
  bool any = false;
  std::optional<std::string> interval;
  std::optional<std::string> timeout;
};

extern const char* const wait_examples;
void add_wait(CLI::App& app, wait_texts& into);
// `has_device`: --device stands there.
std::optional<failure> apply_wait(const wait_texts& from, bool has_device, wait_options& to);

}  // namespace hmn::cli
