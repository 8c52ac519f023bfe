// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "cli/system/environment.hpp"
#include "cli/system/process.hpp"
#include "cli/system/streams.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/reader.hpp"
#include "cli/top/screen.hpp"
#include "cli/top/state.hpp"
#include "cli/top/terminal.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Wait between the two readings of the first printed frame: loads and rates are of the time
// between.
constexpr milliseconds first_window(250);

reader_settings settings_of(const run_settings& how, milliseconds interval) {
  reader_settings out;
  out.interval = interval;
  out.deadline = std::max(interval, milliseconds(default_deadline_ms));
  out.device = how.device;
  out.user = how.user;
  return out;
}

void prepare(state& to, const session& in, const run_settings& how) {
  to.interval = milliseconds(how.asked.interval_ms);
  to.is_simulated = in.is_simulated();
  to.is_read_only = how.asked.is_read_only;
  to.user = how.asked.user;
}

glyphs glyphs_of(const run_settings& how) {
  return {how.as.unicode && !how.is_console, how.as.ascii_only};
}

// Sends the signal that was confirmed. The library identifies the process that has the pid.
std::string send(const session& in, const pending_signal& what) {
  using hypomnesis::process_memory_field;
  const auto is_same = [&] {
    const auto now = attempt([&] {
      return in.library().process_memory(what.to.pid, process_memory_field::process_key);
    });
    return now && now->process_key == what.to.start;
  };
  const auto why = send_signal(what.to.pid, what.which.number, is_same);
  if (why) return fmt::format("{} to {} was not sent: {}", what.which.name, what.to.pid, *why);
  return fmt::format("{} was sent to {} ({})", what.which.name, what.to.pid, what.name);
}

// What is shown on a terminal, from its opening to the end.
class live_screen {
 public:
  live_screen(const session& in, const run_settings& how, terminal& on)
      : in_(in), how_(how), on_(on) {
    prepare(state_, in, how);
  }

  // Returns whether to go on.
  bool step(reader& from);

 private:
  bool apply(const terminal::events& happened);
  bool take(reader& from);

  const session& in_;
  const run_settings& how_;
  terminal& on_;
  state state_;
  std::uint64_t frames_ = 0;
  bool is_changed_ = true;
};

bool live_screen::apply(const terminal::events& happened) {
  for (const auto& each : happened.keys) {
    is_changed_ = true;
    switch (press(state_, each, page_lines_of(state_, on_.width(), on_.height()))) {
      case request::quit:
        return false;
      case request::send_signal:
        state_.message = send(in_, *state_.pending);
        state_.pending.reset();
        break;
      case request::redraw:
        on_.redraw();
        break;
      case request::none:
        break;
    }
  }
  is_changed_ = is_changed_ || happened.is_changed;
  return !happened.is_ended;
}

bool live_screen::take(reader& from) {
  std::shared_ptr<const machine_reading> fresh = from.take();
  if (!fresh) return true;
  state_.take(std::move(fresh));
  is_changed_ = is_changed_ || !state_.is_paused;
  return !how_.asked.frames || ++frames_ <= *how_.asked.frames;
}

bool live_screen::step(reader& from) {
  if (is_changed_) {
    on_.show(draw_screen(state_, on_.width(), on_.height(), glyphs_of(how_)));
    is_changed_ = false;
  }
  if (how_.asked.frames && frames_ >= *how_.asked.frames) return false;
  if (!apply(on_.wait())) return false;
  return take(from);
}

// Returns the lines that show every GPU and process.
int natural_height(const state& of) {
  const auto gpus = of.now ? of.now->gpus.size() : 0;
  const auto lines = 4 + gpus + std::max<std::size_t>(gpus, 1) * 2 + of.list.lines.size();
  constexpr std::size_t most_lines = 20'000;
  return static_cast<int>(std::clamp<std::size_t>(lines, least_height, most_lines));
}

// Removes the empty lines above the last one.
void close_gap(std::string& text) {
  const auto last = text.rfind('\n', text.size() - 2);
  if (last == std::string::npos) return;
  const auto end = text.find_last_not_of('\n', last) + 1;
  text.erase(end, last - end);
}

write_result print(state& of, const run_settings& how) {
  const bool is_whole = how.height == 0;
  of.charts = is_whole ? chart_choice::none : chart_choice::selected;
  const auto height = is_whole ? natural_height(of) : how.height;
  auto text = text_of(draw_screen(of, how.width, height, glyphs_of(how)), how.as.colour);
  if (is_whole) close_gap(text);
  return write_part(text);
}

}  // namespace

expected<exit_code> run_on_terminal(const session& in, const run_settings& how) {
  auto opened =
      open_terminal(output_descriptor(), environment_value("TERM").value_or(""), how.as.colour);
  if (!opened) return opened.why();
  auto& on = **opened;
  live_screen screen(in, how, on);
  reader from(in, settings_of(how, milliseconds(how.asked.interval_ms)), [&on] { on.wake(); });
  while (screen.step(from)) continue;
  return exit_code::done;
}

expected<exit_code> run_as_text(const session& in, const run_settings& how) {
  const auto frames = how.asked.once ? 1 : how.asked.frames.value_or(1);
  const auto interval = milliseconds(how.asked.interval_ms);
  state shown;
  prepare(shown, in, how);
  stop_request stop;
  auto reading = settings_of(how, frames == 1 ? std::min(interval, first_window) : interval);
  if (frames == 1) reading.process_interval = reading.interval;
  reader from(in, reading);
  std::uint64_t readings = 0, printed = 0;
  bool has_failed = false;  // the last search
  std::string why_failed;
  while (printed < frames) {
    std::shared_ptr<const machine_reading> fresh;
    {
      const waiting_notice notice;
      while (!fresh && !stop.wait_until(clock::now()))
        fresh = from.wait_until(clock::now() + first_window);
    }
    if (!fresh) break;
    if (how.is_traced) print_trace(*fresh->from);
    has_failed = fresh->search_failed;
    why_failed = fresh->why_partial;
    shown.take(std::move(fresh));
    // Loads and rates need a reading before.
    if (++readings == 1) continue;
    const auto result = print(shown, how);
    if (result == write_result::reader_gone) break;
    if (result == write_result::failed) return exit_code::failed;
    ++printed;
  }
  if (has_failed) return failed("the search for GPUs failed: " + why_failed);
  return exit_code::done;
}

}  // namespace hmn::cli::top
