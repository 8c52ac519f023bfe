// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/spill_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/text/duration.hpp"

namespace hmn::cli {

const char* const spill_examples =
    "Examples:\n"
    "  hmn spill -- ./train --steps 100\n"
    "  hmn spill --interval 50ms --json spill.json -- ./train\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N when signal N ended it; 2\n"
    "wrong usage, 125 hmn failed, 126 the command cannot be run, 127 it was not found.\n"
    "See hmn-spill(1).";

void add_spill(CLI::App& app, spill_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("--interval", into.interval, "From one observation to the next [100ms]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--json", into.json, "Write the report to FILE, or to standard output (-)")
      ->type_name("FILE")
      ->multi_option_policy(last);
}

std::optional<failure> apply_spill(const spill_texts& from, spill_options& to) {
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.json && from.json->empty()) return misused("--json \"\": expected a file's path or -");
  to.json = from.json;
  return std::nullopt;
}

}  // namespace hmn::cli
