// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"

namespace CLI {
class App;
}

namespace hmn::cli {

// Parsed options of `hmn fit`.
struct fit_options {
  std::string model;                     // path
  std::optional<std::uint64_t> context;  // tokens for each sequence
  std::uint64_t batch = 1;               // concurrent sequences
  std::optional<std::uint64_t> ubatch;   // tokens processed at once
  std::string kv_type = "f16";
  std::vector<std::string> devices;  // empty: each device by itself; several: together
};

// Options of `hmn fit` as given on the command line.
struct fit_texts {
  std::string model;
  std::optional<std::string> context;
  std::optional<std::string> batch;
  std::optional<std::string> ubatch;
  std::optional<std::string> kv_type;
  std::vector<std::string> devices;
};

// Returns whether `--device all` was given.
inline bool is_over_all(const fit_options& of) {
  return of.devices.size() == 1 && of.devices.front() == "all";
}

extern const char* const fit_examples;
void add_fit(CLI::App& app, fit_texts& into);
std::optional<failure> apply_fit(const fit_texts& from, fit_options& to);

// Parses "8192", "128K", "1M" (powers of 1024), "131_072" and "131,072".
std::optional<std::uint64_t> parse_token_count(std::string_view text);

}  // namespace hmn::cli
