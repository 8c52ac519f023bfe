// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/run_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/measure/timeline.hpp"
#include "cli/text/duration.hpp"

namespace hmn::cli {

const char* const run_examples =
    "Examples:\n"
    "  hmn run -- python3 -V\n"
    "  hmn run --plot memory.svg --record memory.csv -- sleep 0.2\n"
    "  hmn run --json - -- true | jq .largest_process.bytes\n"
    "\n"
    "Exit status: 0 done, else the command's own, or 128 + N when signal N ended it; 2\n"
    "wrong usage, 125 hmn failed, 126 the command cannot be run, 127 it was not found.\n"
    "See hmn-run(1).";

void add_run(CLI::App& app, run_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("--record", into.record, "Write each sample to FILE (.jsonl or .csv)")
      ->type_name("FILE")
      ->multi_option_policy(last);
  app.add_option("--plot", into.plot, "Draw a picture into FILE.svg")
      ->type_name("FILE")
      ->multi_option_policy(last);
  app.add_option("--interval", into.interval, "From one sample to the next [100ms]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--json", into.json, "Write the figures to FILE, or to standard output (-)")
      ->type_name("FILE")
      ->multi_option_policy(last);
}

std::optional<failure> apply_run(const run_texts& from, run_options& to) {
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.record)
    if (const auto form = timeline_form_of(*from.record); !form) return form.why();
  if (from.plot && !from.plot->ends_with(".svg"))
    return misused(fmt::format("--plot \"{}\": the file's name must end in .svg", *from.plot));
  if (from.json && from.json->empty()) return misused("--json \"\": expected a file's path or -");
  to.record = from.record;
  to.plot = from.plot;
  to.json = from.json;
  return std::nullopt;
}

}  // namespace hmn::cli
