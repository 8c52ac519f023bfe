// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/timed_options.hpp"
#include "cli/expected.hpp"
#include "cli/exporter/exporter.hpp"
#include "cli/fit/options.hpp"
#include "cli/measure/sort_key.hpp"
#include "cli/measure/usage_groups.hpp"
#include "cli/text/colour.hpp"
#include "cli/top/options.hpp"

namespace hmn::cli {

enum class command {
  summary,
  ps,
  snapshot,
  doctor,
  log,
  metrics,
  fit,
  record_machine,
  run,
  wait,
  spill,
  watch,
  top,
  exporter
};

struct options {
  command run = command::summary;
  std::uint32_t timeout_ms = 60'000;
  bool has_timeout = false;
  bool trace = false;
  std::string machine;
  colour_choice colour = colour_choice::automatic;
  bool json = false;
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
  std::optional<grouping> by;
  std::vector<std::size_t> columns;  // positions in process_columns.cpp; empty: the default
  bool unattributed = false;
  bool show_pools = false;
  bool slow = false;         // include metrics that take long
  bool unsupported = false;  // include metrics that the device does not have
  log_options log;
  run_options measured;
  wait_options wait;
  fit_options fit;
  spill_options spill;
  watch_options watch;
  top_options top;
  exporter_settings exporter;
  std::vector<std::string> words;     // command after "--"
  std::optional<file_to_write> file;  // of record-machine
};

// Text printed for --help or --version.
struct information {
  std::string text;
};

expected<std::variant<options, information>> parse_options(int argc, const char* const* argv);

}  // namespace hmn::cli
