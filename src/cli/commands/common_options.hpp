// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/options.hpp"

namespace hmn::cli {

// Option with a value; the last one on the command line counts.
struct value_option {
  const char* name;
  std::optional<std::string>* into;
  const char* type;
  const char* purpose;
};
void add_values(CLI::App& app, std::initializer_list<value_option> all);

// Options of every command, as given on the command line.
struct common_texts {
  std::optional<std::string> timeout;
  std::optional<std::string> machine;
  std::optional<std::string> colour;
  bool trace = false;
};

constexpr std::string_view a_path = "the path of a file";
constexpr std::string_view a_path_or_dash = "a file's path or -";
constexpr std::string_view a_name_pattern = "a pattern for names, as in 'python*'";

void add_common(CLI::App& app, common_texts& into);
void add_common_but_timeout(CLI::App& app, common_texts& into);
std::optional<failure> apply_common(const common_texts& from, options& to);

}  // namespace hmn::cli
