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

// What is known once the command has ended, beside its samples.
struct run_result {
  std::vector<std::string> command;
  std::uint32_t exit_status = 0;
  std::string signal;  // that ended it, if one did
  std::uint64_t started_unix_ns = 0;
  std::uint64_t elapsed_ns = 0;
  resource_use use;
  // The command's first process begins as a copy of hmn, which the kernel counts: what is not above
  // this may be hmn's.
  std::uint64_t own_bytes = 0;
  std::optional<std::uint64_t> group_bytes;
  std::string why_no_group;
  std::vector<std::optional<double>> energy_joules;  // at the end, as the samples' devices
  std::vector<kept_peak> peaks;                      // so too
};

struct run_outcome {
  const run_result& result;
  const run_account& account;
  const run_meter& meter;
};

// For standard error; with_reasons: also why there is no control group.
std::string run_text(const run_outcome& of, bool with_reasons);
// docs/schema/run.schema.json
std::string run_json(const run_outcome& of);
plot run_plot(const run_outcome& of);

}  // namespace hmn::cli
