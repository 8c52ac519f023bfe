// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/watch_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/text/duration.hpp"

namespace hmn::cli {
namespace {

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

const char* const watch_examples =
    "Examples:\n"
    "  hmn watch --interval 2s              the five that use most, until Ctrl-C\n"
    "  hmn watch 4242 --duration 1m --json | jq .used_bytes\n"
    "  hmn watch --follow-new --top 3\n"
    "\n"
    "Exit status: 0 done, no spill seen (or it cannot be measured), 1 spill seen, 2\n"
    "failed or wrong usage. See hmn-watch(1).";

void add_watch(CLI::App& app, watch_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("PID", into.pids, "Processes to follow; without: those that use most");
  app.add_option("--interval", into.interval, "From one sample to the next [5s]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--duration", into.duration, "End after that time")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--top", into.top, "Without a PID: follow so many [5]")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_flag("--follow-new", into.follow_new, "Choose them anew at each sample");
}

std::optional<failure> apply_watch(const watch_texts& from, watch_options& to) {
  if (from.follow_new && !from.pids.empty())
    return misused(
        "watch --follow-new only applies to auto-selection; drop --follow-new or the explicit PID "
        "list");
  to.follow_new = from.follow_new;
  for (const auto& text : from.pids) {
    const auto pid = whole(text);
    if (!pid || *pid == 0)
      return misused(fmt::format("PID \"{}\": expected a whole number from 1 to 4294967295", text));
    if (std::find(to.pids.begin(), to.pids.end(), *pid) == to.pids.end()) to.pids.push_back(*pid);
  }
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.duration) {
    const auto duration = parse_time("--duration", *from.duration);
    if (!duration) return duration.why();
    to.duration_ms = std::min<std::uint64_t>(*duration, std::uint64_t{1} << 40U);
  }
  if (from.top) {
    const auto top = whole(*from.top);
    if (!top)
      return misused(
          fmt::format("--top \"{}\": expected a whole number up to 4294967295", *from.top));
    to.top = *top;
  }
  return std::nullopt;
}

}  // namespace hmn::cli
