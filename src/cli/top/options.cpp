// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

#include "cli/text/duration.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

expected<std::uint64_t> parse_frames(const std::string& text) {
  std::uint64_t count = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec == std::errc{} && parsed.ptr == end && count > 0) return count;
  return misused(fmt::format("--frames \"{}\": expected a whole number of at least 1", text));
}

}  // namespace

const char* const top_examples =
    "Examples:\n"
    "  hmn top                              press ? for the keys\n"
    "  hmn top --device 0 --interval 200ms\n"
    "  hmn top --once                       one frame as text\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed or no such device, 2 wrong usage.\n"
    "See hmn-top(1).";

void add_top(CLI::App& app, top_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("--interval", into.interval, "Time between readings [1s]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_flag("--once", into.once, "Print one frame as text");
  app.add_option("--frames", into.frames, "Exit after N frames")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_option("--user", into.user, "Only processes of this user: name or number")
      ->type_name("USER")
      ->multi_option_policy(last);
}

std::optional<failure> apply_top(const top_texts& from, top_options& to) {
  if (from.once && from.frames) return misused("--once and --frames: only one of them");
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.frames) {
    const auto frames = parse_frames(*from.frames);
    if (!frames) return frames.why();
    to.frames = *frames;
  }
  if (auto wrong = refuse_empty("--user", from.user, "the name or the number of a user"))
    return wrong;
  to.user = from.user;
  to.once = from.once;
  return std::nullopt;
}

}  // namespace hmn::cli
