// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/log_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/text/duration.hpp"

namespace hmn::cli {
namespace {

expected<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec == std::errc{} && parsed.ptr == end && count > 0) return count;
  return misused(fmt::format("--count \"{}\": expected a whole number from 1 on", text));
}

}  // namespace

const char* const log_examples =
    "Examples:\n"
    "  hmn log --interval 500ms --duration 1m\n"
    "  hmn log --csv > gpus.csv             until Ctrl-C\n"
    "  hmn log --count 1 --json | jq .power_watts\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed, no GPU or no such device, 2 wrong\n"
    "usage. See hmn-log(1).";

void add_log(CLI::App& app, log_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("--interval", into.interval, "From one sample to the next [1s]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--count", into.count, "End after so many samples of each device")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_option("--duration", into.duration, "End after that time")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_flag("--json", into.json, "Print a JSON object on each line");
  app.add_flag("--csv", into.csv, "Print comma-separated values");
}

std::optional<failure> apply_log(const log_texts& from, log_options& to) {
  if (from.json && from.csv) return misused("--json and --csv: only one of them");
  if (from.count && from.duration) return misused("--count and --duration: only one of them");
  if (from.json) to.form = log_form::json;
  if (from.csv) to.form = log_form::csv;
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.count) {
    const auto count = parse_count(*from.count);
    if (!count) return count.why();
    to.count = *count;
  }
  if (from.duration) {
    const auto duration = parse_time("--duration", *from.duration);
    if (!duration) return duration.why();
    to.duration_ms = *duration;
  }
  return std::nullopt;
}

}  // namespace hmn::cli
