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

// What `hmn fit` was asked for.
struct fit_options {
  std::string model;                     // path
  std::optional<std::uint64_t> context;  // tokens of each sequence
  std::uint64_t batch = 1;               // sequences at once
  std::string kv_type = "f16";
  std::vector<std::string> devices;  // none: each by itself; several: together
};

// The same as it stands on the command line.
struct fit_texts {
  std::string model;
  std::optional<std::string> context;
  std::optional<std::string> batch;
  std::optional<std::string> kv_type;
  std::vector<std::string> devices;
};

// Of `--device all`.
inline bool is_over_all(const fit_options& of) {
  return of.devices.size() == 1 && of.devices.front() == "all";
}

extern const char* const fit_examples;
void add_fit(CLI::App& app, fit_texts& into);
std::optional<failure> apply_fit(const fit_texts& from, fit_options& to);

// "8192", "128K", "1M" (powers of 1024), "131_072", "131,072"
std::optional<std::uint64_t> parse_token_count(std::string_view text);

}  // namespace hmn::cli
