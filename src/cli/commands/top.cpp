// SPDX-License-Identifier: MIT OR Apache-2.0
#include <charconv>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/waiting.hpp"
#include "cli/top/run.hpp"

namespace hmn::cli {
namespace {

constexpr unsigned pipe_width = 120;
constexpr unsigned max_cells = 10'000;  // in either direction

// Reads a number from a variable such as COLUMNS; none: it is unset or not a number.
std::optional<unsigned> read_number(const char* name) {
  const auto text = get_environment(name);
  unsigned number = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool is_whole = parsed.ec == std::errc{} && parsed.ptr == text->data() + text->size();
  return is_whole && number > 0 && number <= max_cells ? std::optional(number) : std::nullopt;
}

// Returns the style of frames: that of a terminal even if they are printed to a pipe.
Style make_frame_style(Environment environment, const Style& style) {
  environment.is_terminal = true;
  auto frame_style = choose_style(environment, ColourChoice::never);
  frame_style.colour = style.colour;
  return frame_style;
}

top::RunSettings make_settings(const Options& options, const Style& style,
                               const Environment& environment) {
  top::RunSettings settings;
  settings.options = options.top;
  settings.is_traced = options.trace;
  settings.style = make_frame_style(environment, style);
  settings.is_console = environment.term == "linux";
  const auto columns = environment.columns != 0 ? environment.columns : pipe_width;
  settings.width = static_cast<int>(
      environment.is_terminal ? columns : read_number("COLUMNS").value_or(columns));
  settings.height = static_cast<int>(environment.is_terminal ? environment.lines
                                                             : read_number("LINES").value_or(0));
  return settings;
}

Expected<ExitCode> run_top(const Session& session, const Options& options, const Style& style) {
  const auto environment = detect_output_environment();
  const bool is_live = environment.is_terminal && !options.top.once;
  if (is_live && options.trace)
    return make_usage_error("--trace: needs --once, as in `hmn top --once --trace`");
  auto settings = make_settings(options, style, environment);
  if (options.device) {
    const WaitingNotice notice;
    const auto index = find_device(session, *options.device);
    if (!index) return index.error();
    settings.device = *index;
  }
  if (options.top.user) {
    const auto user = find_user(*options.top.user, session.is_simulated(),
                                UserNames::Clock::now() + session.reading_timeout());
    if (!user) return user.error();
    settings.user = *user;
  }
  return is_live ? run_on_terminal(session, settings) : run_as_text(session, settings);
}

constexpr Option top_options[] = {
    interval_option("Time between readings [1s]", "100ms 500ms 1s 5s"),
    {"--once", 0, "", "Print one frame as text"},
    {"--count", 'n', "N", "Exit after N frames", Completion::nothing, "", Occurrence::last,
     "--frames"},
    {"--read-only", 0, "", "Send no signals to processes"},
    user_option,
    device_option(),
};

constexpr std::string_view top_examples =
    "Examples:\n"
    "  hmn top                              press ? for the keys\n"
    "  hmn top -d 0 -i 200ms                GPU 0, five times a second\n"
    "  hmn top --once                       one frame as text\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed or no such device, 2 wrong usage.\n"
    "See hmn-top(1).";

std::optional<Failure> read_top(const Arguments& arguments, Options& options) {
  if (auto failure = check_exclusive(arguments, "--once", "--count")) return failure;
  if (auto failure = read_interval(arguments, options.top.interval_ms)) return failure;
  if (auto failure = read_count(arguments, "--count", options.top.frames)) return failure;
  options.top.once = arguments.has("--once");
  options.top.is_read_only = arguments.has("--read-only");
  return read_text(arguments, "--user", expected_user, options.top.user);
}

}  // namespace

const Command top_command = {
    .id = CommandId::top,
    .name = "top",
    .purpose = "Monitor GPUs and their processes live",
    .options = top_options,
    .examples = top_examples,
    .read = read_top,
    .run = run_top,
};

}  // namespace hmn::cli
