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

enum class Command {
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

struct SummaryOptions {
  std::optional<std::uint32_t> interval_ms;  // none: once
  std::optional<std::uint64_t> count;
};

enum class LogForm { text, json, csv };

struct LogOptions {
  std::uint32_t interval_ms = 1000;
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> duration_ms;
  LogForm form = LogForm::text;
};

struct RunOptions {
  std::uint32_t interval_ms = 100;
  std::optional<FileToWrite> record;
  std::optional<FileToWrite> plot;
  std::vector<FileToWrite> reports;  // of --json and --output
  bool all_devices = false;          // in text and plot, also those that were not used
};

struct SpillOptions {
  std::uint32_t interval_ms = 100;
  std::vector<FileToWrite> reports;  // of --json and --output
};

struct WaitOptions {
  std::uint64_t bytes = 0;            // on each device
  std::vector<std::string> devices;   // empty: any
  std::optional<std::uint64_t> gpus;  // none: all of `devices`, or one
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> timeout_ms;
};

struct WatchOptions {
  std::vector<std::uint32_t> pids;   // empty: the top processes by use
  std::vector<std::string> devices;  // empty: all
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> duration_ms;
  std::uint32_t top = 5;
  std::optional<std::string> match;
  SortKey sort = SortKey::vram;
  bool follow_new = false;
};

// What a command line asks for. What only one command has is in its own struct.
struct Options {
  Command run = Command::summary;
  std::uint32_t timeout_ms = 60'000;
  bool has_timeout = false;
  bool trace = false;
  std::string machine;
  ColourChoice colour = ColourChoice::automatic;
  bool json = false;
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;
  std::vector<std::string> devices;  // of ps
  std::optional<std::string> user;
  std::optional<std::string> match;
  SortKey sort = SortKey::vram;
  std::optional<Grouping> by;
  std::vector<std::size_t> columns;  // positions in process_columns.cpp; empty: the default
  bool unattributed = false;
  bool show_pools = false;
  bool csv = false;          // of ps
  bool slow = false;         // include metrics that take long
  bool unsupported = false;  // include metrics that the device does not have
  SummaryOptions summary;
  LogOptions log;
  RunOptions measured;
  WaitOptions wait;
  FitOptions fit;
  SpillOptions spill;
  WatchOptions watch;
  TopOptions top;
  ExporterSettings exporter;
  std::vector<std::string> words;   // command after "--"
  std::optional<FileToWrite> file;  // of record-machine
};

// Text printed for --help or --version.
struct Information {
  std::string text;
};

Expected<std::variant<Options, Information>> parse_options(int argc, const char* const* argv);

}  // namespace hmn::cli
