// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/exporter/compat.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/exporter/text_format.hpp"
#include "cli/exporter/workloads.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/file.hpp"

namespace hmn::cli {

// Parsed options of `hmn exporter`.
struct ExporterSettings {
  std::vector<std::string> command_line;
  std::string address = "127.0.0.1";  // numeric; "": every address
  std::uint16_t port = 10077;         // 0: any
  std::optional<std::string> web_config;
  std::uint32_t max_age_ms = 1000;
  std::uint32_t timeout_ms = 2000;  // of the readings of a scrape
  std::vector<Grouping> groupings;  // what the memory of processes is grouped by
  std::vector<Dialect> dialects;    // names of other exporters, in addition
  NameFilter names;
  bool once = false;
  bool is_traced = false;  // print the driver calls of each reading
  std::optional<OutputTarget> text_file;
  std::optional<std::uint32_t> interval_ms;    // between two writings of the text file; none: one
  TextFormat format = TextFormat::prometheus;  // of --once and of the text file
};

// Prints the metrics, writes them to a file, or serves them until it is stopped.
Expected<ExitCode> run_exporter(const Session& session, const ExporterSettings& settings);

}  // namespace hmn::cli
