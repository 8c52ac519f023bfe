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

constexpr unsigned width_of_pipe = 120;
constexpr unsigned most_cells = 10'000;  // in either direction

// Returns the number in a variable such as COLUMNS; none: it is unset or no number.
std::optional<unsigned> number_in(const char* name) {
  const auto text = environment_value(name);
  unsigned number = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool is_whole = parsed.ec == std::errc{} && parsed.ptr == text->data() + text->size();
  return is_whole && number > 0 && number <= most_cells ? std::optional(number) : std::nullopt;
}

// Returns the style of frames, which is that of a terminal also where they are printed.
Style style_of_frames(Surroundings around, const Style& as) {
  around.is_terminal = true;
  auto out = choose_style(around, ColourChoice::never);
  out.colour = as.colour;
  return out;
}

top::RunSettings settings_of(const Options& asked, const Style& as, const Surroundings& around) {
  top::RunSettings how;
  how.asked = asked.top;
  how.is_traced = asked.trace;
  how.as = style_of_frames(around, as);
  how.is_console = around.term == "linux";
  const auto columns = around.columns != 0 ? around.columns : width_of_pipe;
  how.width =
      static_cast<int>(around.is_terminal ? columns : number_in("COLUMNS").value_or(columns));
  how.height = static_cast<int>(around.is_terminal ? around.lines : number_in("LINES").value_or(0));
  return how;
}

Expected<ExitCode> run_top(const Session& in, const Options& asked, const Style& as) {
  const auto around = standard_output_surroundings();
  const bool is_live = around.is_terminal && !asked.top.once;
  if (is_live && asked.trace)
    return misused("--trace: needs --once, as in `hmn top --once --trace`");
  auto how = settings_of(asked, as, around);
  if (asked.device) {
    const WaitingNotice notice;
    const auto found = find_device(in, *asked.device);
    if (!found) return found.why();
    how.device = *found;
  }
  if (asked.top.user) {
    const auto found =
        find_user(*asked.top.user, in.is_simulated(), UserNames::Clock::now() + in.patience());
    if (!found) return found.why();
    how.user = *found;
  }
  return is_live ? run_on_terminal(in, how) : run_as_text(in, how);
}

constexpr Option options_of_top[] = {
    interval_option("Time between readings [1s]", "100ms 500ms 1s 5s"),
    {"--once", 0, "", "Print one frame as text"},
    {"--count", 'n', "N", "Exit after N frames", Completion::nothing, "", Uses::last, "--frames"},
    {"--read-only", 0, "", "Send no signals to processes"},
    user_option,
    device_option(),
};

constexpr std::string_view examples_of_top =
    "Examples:\n"
    "  hmn top                              press ? for the keys\n"
    "  hmn top -d 0 -i 200ms                GPU 0, five times a second\n"
    "  hmn top --once                       one frame as text\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed or no such device, 2 wrong usage.\n"
    "See hmn-top(1).";

std::optional<Failure> read_top(const Arguments& from, Options& to) {
  if (auto twice = only_one_of(from, "--once", "--count")) return twice;
  if (auto wrong = read_interval(from, to.top.interval_ms)) return wrong;
  if (auto wrong = read_count(from, "--count", to.top.frames)) return wrong;
  to.top.once = from.has("--once");
  to.top.is_read_only = from.has("--read-only");
  return read_text(from, "--user", a_user, to.top.user);
}

}  // namespace

const CommandEntry top_command = {
    .id = Command::top,
    .name = "top",
    .purpose = "Monitor GPUs and their processes live",
    .takes = options_of_top,
    .examples = examples_of_top,
    .read = read_top,
    .run = run_top,
};

}  // namespace hmn::cli
