// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/run_account.hpp"
#include "cli/measure/run_meter.hpp"
#include "cli/system/child.hpp"
#include "cli/text/plot.hpp"

namespace hmn::cli {

// Results known after the command has ended, in addition to its samples.
struct run_result {
  std::vector<std::string> command;
  process_end end;
  std::uint64_t started_unix_ns = 0;
  std::uint64_t elapsed_ns = 0;
  // Memory of hmn itself; none if unknown. The command's first process begins as a copy of hmn,
  // which the kernel may count: a peak up to this may be hmn's.
  std::optional<std::uint64_t> own_bytes;
  std::optional<std::uint64_t> group_bytes;
  std::string why_no_group;
  std::vector<energy_reading> energy;  // at the end, ordered as the samples' devices
  std::vector<kept_peak> peaks;        // in the same order
};

struct run_outcome {
  const run_result& result;
  const run_account& account;
  const run_meter& meter;
};

// Formats for standard error; with_reasons explains a missing control group.
std::string run_text(const run_outcome& of, bool with_reasons);
// Formats by docs/schema/run.schema.json.
std::string run_json(const run_outcome& of);
plot run_plot(const run_outcome& of);

}  // namespace hmn::cli
