// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/timed_options.hpp"
#include "cli/expected.hpp"
#include "cli/fit/options.hpp"
#include "cli/text/colour.hpp"

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
  watch
};
enum class sort_key { vram, shared, total, ram, pid, name };

struct options {
  command run = command::summary;
  std::uint32_t timeout_ms = 60'000;
  bool trace = false;
  std::string machine;
  colour_choice colour = colour_choice::automatic;
  bool json = false;
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
  std::vector<std::size_t> columns;  // positions in process_columns.cpp; empty: the usual ones
  bool unattributed = false;
  bool slow = false;         // also metrics that take long
  bool unsupported = false;  // also metrics that the device does not have
  log_options log;
  run_options measured;
  wait_options room;
  fit_options fit;
  spill_options spill;
  watch_options watch;
  std::vector<std::string> words;  // the command that stands behind "--"
  std::string file;                // that record-machine writes
  bool force = false;              // also over one that is there
};

// The answer to --help or --version.
struct information {
  std::string text;
};

expected<std::variant<options, information>> parse_options(int argc, const char* const* argv);

}  // namespace hmn::cli
