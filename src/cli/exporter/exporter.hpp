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
struct exporter_settings {
  std::vector<std::string> command_line;
  std::string address = "127.0.0.1";  // numeric; "": every address
  std::uint16_t port = 10077;         // 0: any
  std::optional<std::string> web_config;
  std::uint32_t max_age_ms = 1000;
  std::uint32_t timeout_ms = 2000;  // of the readings of a scrape
  std::vector<grouping> per;        // by what the memory of processes is added up
  std::vector<dialect> compatible;  // names of other exporters, in addition
  name_filter names;
  bool once = false;
  bool is_traced = false;  // print the driver calls of each reading
  std::optional<file_to_write> text_file;
  std::optional<std::uint32_t> interval_ms;      // between two writings of the text file; none: one
  text_format format = text_format::prometheus;  // of --once and of the text file
};

// Prints the metrics, writes them to a file, or serves them until it is stopped.
expected<exit_code> run_exporter(const session& in, const exporter_settings& how);

}  // namespace hmn::cli
