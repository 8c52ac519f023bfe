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

enum class log_form { text, json, csv };

// What `hmn log` was asked for.
struct log_options {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> duration_ms;
  log_form form = log_form::text;
};

// The same as it stands on the command line.
struct log_texts {
  std::optional<std::string> interval;
  std::optional<std::string> count;
  std::optional<std::string> duration;
  bool json = false;
  bool csv = false;
};

extern const char* const log_examples;
void add_log(CLI::App& app, log_texts& into);
std::optional<failure> apply_log(const log_texts& from, log_options& to);

}  // namespace hmn::cli
