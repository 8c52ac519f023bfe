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

enum class CommandId {
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

// Upper limit of a command's duration: about 35 years.
constexpr std::uint64_t max_time_ms = std::uint64_t{1} << 40U;

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
  std::optional<OutputTarget> record;
  std::optional<OutputTarget> plot;
  std::vector<OutputTarget> reports;  // of --json and --output
  bool all_devices = false;           // text and plot include devices that were not used
};

struct SpillOptions {
  std::uint32_t interval_ms = 100;
  std::vector<OutputTarget> reports;  // of --json and --output
};

struct WaitOptions {
  std::uint64_t bytes = 0;                 // on each device
  std::vector<std::string> devices;        // empty: any
  std::optional<std::uint64_t> gpu_count;  // none: all of `devices`, or one
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> timeout_ms;
};

struct WatchOptions {
  std::vector<std::uint32_t> pids;   // empty: the top processes by use
  std::vector<std::string> devices;  // empty: all
  std::uint32_t interval_ms = 5000;
  std::optional<std::uint64_t> duration_ms;
  std::uint32_t top_count = 5;
  std::optional<std::string> match;
  SortKey sort = SortKey::vram;
  bool follow_new = false;
};

// Parsed command line. Options of a single command are in a struct of their own.
struct Options {
  CommandId command = CommandId::summary;
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
  std::optional<Grouping> grouping;
  std::vector<std::size_t> columns;  // indices into the columns of process_table.cpp; empty: the
                                     // default  (process_columns.cpp does not exist: check)
  bool show_unattributed = false;
  bool show_pools = false;
  bool csv = false;                  // of ps
  bool include_slow = false;         // include metrics that take long
  bool include_unsupported = false;  // include metrics that the device does not have
  SummaryOptions summary;
  LogOptions log;
  RunOptions run;
  WaitOptions wait;
  FitOptions fit;
  SpillOptions spill;
  WatchOptions watch;
  TopOptions top;
  ExporterSettings exporter;
  std::vector<std::string> words;    // command after "--"
  std::optional<OutputTarget> file;  // of record-machine
};

// Text printed for --help or --version.
struct Information {
  std::string text;
};

Expected<std::variant<Options, Information>> parse_options(int argc, const char* const* argv);

}  // namespace hmn::cli
