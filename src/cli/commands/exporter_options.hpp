// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/expected.hpp"
#include "cli/exporter/exporter.hpp"

namespace CLI {
class App;
}

namespace hmn::cli {

// Options of `hmn exporter` as given on the command line.
struct exporter_texts {
  std::optional<std::string> listen;
  std::optional<std::string> web_config;
  std::optional<std::string> max_age;
  std::optional<std::string> timeout;
  std::optional<std::string> text_file;
  std::optional<std::string> interval;
  std::optional<std::string> per;
  std::optional<std::string> compat;
  bool force = false;
  bool once = false;
  bool openmetrics = false;
};

extern const char* const exporter_examples;
void add_exporter(CLI::App& app, exporter_texts& into);
std::optional<failure> apply_exporter(const exporter_texts& from, exporter_settings& to);

}  // namespace hmn::cli
