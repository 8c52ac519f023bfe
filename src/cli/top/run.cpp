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

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Wait between the two readings of the first printed frame: loads and rates are of the time
// between.
constexpr milliseconds first_window(250);

ReaderSettings settings_of(const RunSettings& how, milliseconds interval) {
  ReaderSettings out;
  out.interval = interval;
  out.deadline = std::max(interval, milliseconds(default_deadline_ms));
  out.device = how.device;
  out.user = how.user;
  return out;
}

void prepare(State& to, const Session& in, const RunSettings& how) {
  to.interval = milliseconds(how.asked.interval_ms);
  to.is_simulated = in.is_simulated();
  to.is_read_only = how.asked.is_read_only;
  to.user = how.asked.user;
}

Glyphs glyphs_of(const RunSettings& how) {
  return {how.as.unicode && !how.is_console, how.as.ascii_only};
}

// Sends the signal that was confirmed. The library identifies the process that has the pid.
std::string send(const Session& in, const PendingSignal& what) {
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
class LiveScreen {
 public:
  LiveScreen(const Session& in, const RunSettings& how, Terminal& on)
      : in_(in), how_(how), on_(on) {
    prepare(state_, in, how);
  }

  // Returns whether to go on.
  bool step(Reader& from);

 private:
  bool apply(const Terminal::Events& happened);
  bool take(Reader& from);

  const Session& in_;
  const RunSettings& how_;
  Terminal& on_;
  State state_;
  std::uint64_t frames_ = 0;
  bool is_changed_ = true;
};

bool LiveScreen::apply(const Terminal::Events& happened) {
  for (const auto& each : happened.keys) {
    is_changed_ = true;
    switch (press(state_, each, page_lines_of(state_, on_.width(), on_.height()))) {
      case Request::quit:
        return false;
      case Request::send_signal:
        state_.message = send(in_, *state_.pending);
        state_.pending.reset();
        break;
      case Request::redraw:
        on_.redraw();
        break;
      case Request::none:
        break;
    }
  }
  is_changed_ = is_changed_ || happened.is_changed;
  return !happened.is_ended;
}

bool LiveScreen::take(Reader& from) {
  std::shared_ptr<const MachineReading> fresh = from.take();
  if (!fresh) return true;
  state_.take(std::move(fresh));
  is_changed_ = is_changed_ || !state_.is_paused;
  return !how_.asked.frames || ++frames_ <= *how_.asked.frames;
}

bool LiveScreen::step(Reader& from) {
  if (is_changed_) {
    on_.show(draw_screen(state_, on_.width(), on_.height(), glyphs_of(how_)));
    is_changed_ = false;
  }
  if (how_.asked.frames && frames_ >= *how_.asked.frames) return false;
  if (!apply(on_.wait())) return false;
  return take(from);
}

// Returns the lines that show every GPU and process.
int natural_height(const State& of) {
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

WriteResult print(State& of, const RunSettings& how) {
  const bool is_whole = how.height == 0;
  of.charts = is_whole ? ChartChoice::none : ChartChoice::selected;
  const auto height = is_whole ? natural_height(of) : how.height;
  auto text = text_of(draw_screen(of, how.width, height, glyphs_of(how)), how.as.colour);
  if (is_whole) close_gap(text);
  return write_part(text);
}

}  // namespace

Expected<ExitCode> run_on_terminal(const Session& in, const RunSettings& how) {
  auto opened =
      open_terminal(output_descriptor(), environment_value("TERM").value_or(""), how.as.colour);
  if (!opened) return opened.why();
  auto& on = **opened;
  LiveScreen screen(in, how, on);
  Reader from(in, settings_of(how, milliseconds(how.asked.interval_ms)), [&on] { on.wake(); });
  while (screen.step(from)) continue;
  return ExitCode::done;
}

Expected<ExitCode> run_as_text(const Session& in, const RunSettings& how) {
  const auto frames = how.asked.once ? 1 : how.asked.frames.value_or(1);
  const auto interval = milliseconds(how.asked.interval_ms);
  State shown;
  prepare(shown, in, how);
  StopRequest stop;
  auto reading = settings_of(how, frames == 1 ? std::min(interval, first_window) : interval);
  if (frames == 1) reading.process_interval = reading.interval;
  Reader from(in, reading);
  std::uint64_t readings = 0, printed = 0;
  bool has_failed = false;  // the last search
  std::string why_failed;
  while (printed < frames) {
    std::shared_ptr<const MachineReading> fresh;
    {
      const WaitingNotice notice;
      while (!fresh && !stop.wait_until(Clock::now()))
        fresh = from.wait_until(Clock::now() + first_window);
    }
    if (!fresh) break;
    if (how.is_traced) print_trace(*fresh->from);
    has_failed = fresh->search_failed;
    why_failed = fresh->why_partial;
    shown.take(std::move(fresh));
    // Loads and rates need a reading before.
    if (++readings == 1) continue;
    const auto result = print(shown, how);
    if (result == WriteResult::reader_gone) break;
    if (result == WriteResult::failed) return ExitCode::failed;
    ++printed;
  }
  if (has_failed) return failed("the search for GPUs failed: " + why_failed);
  return ExitCode::done;
}

}  // namespace hmn::cli::top
