// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/expected.hpp"
#include "cli/exporter/exporter.hpp"
#include "cli/fit/options.hpp"
#include "cli/measure/processes.hpp"
#include "cli/system/file.hpp"
#include "cli/text/output.hpp"
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

// Longest time that a command runs: some 35 years.
constexpr std::uint64_t longest_time_ms = std::uint64_t{1} << 40U;

struct summary_options {
  std::optional<std::uint32_t> interval_ms;  // none: once
  std::optional<std::uint64_t> count;
};

enum class log_form { text, json, csv };

struct log_options {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> duration_ms;
  log_form form = log_form::text;
};

struct run_options {
  std::uint32_t interval_ms = 100;
  std::optional<file_to_write> record;
  std::optional<file_to_write> plot;
  std::vector<file_to_write> reports;  // of --json and --output
  bool all_devices = false;            // in text and plot, also those that were not used
};

struct spill_options {
  std::uint32_t interval_ms = 100;
  std::vector<file_to_write> reports;  // of --json and --output
};

struct wait_options {
  std::uint64_t bytes = 0;            // on each device
  std::vector<std::string> devices;   // empty: any
  std::optional<std::uint64_t> gpus;  // none: all of `devices`, or one
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> timeout_ms;
};

struct watch_options {
  std::vector<std::uint32_t> pids;   // empty: the top processes by use
  std::vector<std::string> devices;  // empty: all
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> duration_ms;
  std::uint32_t top = 5;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
  bool follow_new = false;
};

// What a command line asks for. What only one command has is in its own struct.
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
  std::vector<std::string> devices;  // of ps
  std::optional<std::string> user;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
  std::optional<grouping> by;
  std::vector<std::size_t> columns;  // positions in process_columns.cpp; empty: the default
  bool unattributed = false;
  bool show_pools = false;
  bool csv = false;          // of ps
  bool slow = false;         // include metrics that take long
  bool unsupported = false;  // include metrics that the device does not have
  summary_options summary;
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
