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

// Wait between the two readings of the first printed frame: loads and rates are averages over the
// time between.
constexpr milliseconds first_window(250);

ReaderSettings make_reader_settings(const RunSettings& settings, milliseconds interval) {
  ReaderSettings result;
  result.interval = interval;
  result.deadline = std::max(interval, milliseconds(default_deadline_ms));
  result.device = settings.device;
  result.user = settings.user;
  return result;
}

void prepare_state(State& state, const Session& session, const RunSettings& settings) {
  state.interval = milliseconds(settings.options.interval_ms);
  state.is_simulated = session.is_simulated();
  state.is_read_only = settings.options.is_read_only;
  state.user = settings.options.user;
}

Glyphs choose_glyphs(const RunSettings& settings) {
  return {settings.style.unicode && !settings.is_console, settings.style.ascii_only};
}

// Sends the signal that was confirmed. The library identifies the process that has the pid.
std::string send_pending_signal(const Session& session, const PendingSignal& pending) {
  using hypomnesis::process_memory_field;
  const auto is_same = [&] {
    const auto current = attempt([&] {
      return session.library().process_memory(pending.process.pid,
                                              process_memory_field::process_key);
    });
    return current && current->process_key == pending.process.start;
  };
  const auto reason = send_signal(pending.process.pid, pending.signal.number, is_same);
  if (reason)
    return fmt::format("{} to {} was not sent: {}", pending.signal.name, pending.process.pid,
                       *reason);
  return fmt::format("{} was sent to {} ({})", pending.signal.name, pending.process.pid,
                     pending.name);
}

// Screen on a terminal, from its opening to the end.
class LiveScreen {
 public:
  LiveScreen(const Session& session, const RunSettings& settings, Terminal& terminal)
      : session_(session), settings_(settings), terminal_(terminal) {
    prepare_state(state_, session, settings);
  }

  // Returns whether to continue.
  bool step(Reader& reader);

 private:
  bool apply(const Terminal::Events& events);
  bool take_reading(Reader& reader);

  const Session& session_;
  const RunSettings& settings_;
  Terminal& terminal_;
  State state_;
  std::uint64_t frames_ = 0;
  bool is_changed_ = true;
};

bool LiveScreen::apply(const Terminal::Events& events) {
  for (const auto& press : events.keys) {
    is_changed_ = true;
    switch (handle_key(state_, press,
                       count_page_lines(state_, terminal_.width(), terminal_.height()))) {
      case KeyAction::quit:
        return false;
      case KeyAction::send_signal:
        state_.message = send_pending_signal(session_, *state_.pending_signal);
        state_.pending_signal.reset();
        break;
      case KeyAction::redraw:
        terminal_.redraw();
        break;
      case KeyAction::none:
        break;
    }
  }
  is_changed_ = is_changed_ || events.is_changed;
  return !events.is_ended;
}

bool LiveScreen::take_reading(Reader& reader) {
  std::shared_ptr<const MachineReading> machine = reader.take();
  if (!machine) return true;
  state_.update(std::move(machine));
  is_changed_ = is_changed_ || !state_.is_paused;
  return !settings_.options.frames || ++frames_ <= *settings_.options.frames;
}

bool LiveScreen::step(Reader& reader) {
  if (is_changed_) {
    terminal_.show(
        draw_screen(state_, terminal_.width(), terminal_.height(), choose_glyphs(settings_)));
    is_changed_ = false;
  }
  if (settings_.options.frames && frames_ >= *settings_.options.frames) return false;
  if (!apply(terminal_.wait())) return false;
  return take_reading(reader);
}

// Returns the lines that show every GPU and process.
int natural_height(const State& state) {
  const auto gpus = state.machine ? state.machine->gpus.size() : 0;
  const auto lines = 4 + gpus + std::max<std::size_t>(gpus, 1) * 2 + state.list.lines.size();
  constexpr std::size_t max_lines = 20'000;
  return static_cast<int>(std::clamp<std::size_t>(lines, min_screen_height, max_lines));
}

// Removes the empty lines above the last one.
void close_gap(std::string& text) {
  const auto last = text.rfind('\n', text.size() - 2);
  if (last == std::string::npos) return;
  const auto end = text.find_last_not_of('\n', last) + 1;
  text.erase(end, last - end);
}

WriteResult print_frame(State& state, const RunSettings& settings) {
  const bool is_full_height = settings.height == 0;
  state.charts = is_full_height ? ChartChoice::none : ChartChoice::selected;
  const auto height = is_full_height ? natural_height(state) : settings.height;
  auto text = format_frame(draw_screen(state, settings.width, height, choose_glyphs(settings)),
                           settings.style.colour);
  if (is_full_height) close_gap(text);
  return write_chunk(text);
}

}  // namespace

Expected<ExitCode> run_on_terminal(const Session& session, const RunSettings& settings) {
  auto result = open_terminal(output_descriptor(), get_environment("TERM").value_or(""),
                              settings.style.colour);
  if (!result) return result.error();
  auto& terminal = **result;
  LiveScreen screen(session, settings, terminal);
  Reader reader(session, make_reader_settings(settings, milliseconds(settings.options.interval_ms)),
                [&terminal] { terminal.wake(); });
  while (screen.step(reader)) continue;
  return ExitCode::done;
}

Expected<ExitCode> run_as_text(const Session& session, const RunSettings& settings) {
  const auto frames = settings.options.once ? 1 : settings.options.frames.value_or(1);
  const auto interval = milliseconds(settings.options.interval_ms);
  State state;
  prepare_state(state, session, settings);
  StopRequest stop;
  auto reader_settings =
      make_reader_settings(settings, frames == 1 ? std::min(interval, first_window) : interval);
  if (frames == 1) reader_settings.process_interval = reader_settings.interval;
  Reader reader(session, reader_settings);
  std::uint64_t readings = 0, printed_frames = 0;
  bool has_failed = false;  // of the last search
  std::string failure_reason;
  while (printed_frames < frames) {
    std::shared_ptr<const MachineReading> machine;
    {
      const WaitingNotice notice;
      while (!machine && !stop.wait_until(Clock::now()))
        machine = reader.wait_until(Clock::now() + first_window);
    }
    if (!machine) break;
    if (settings.is_traced) print_trace(*machine->snapshot);
    has_failed = machine->search_failed;
    failure_reason = machine->partial_reason;
    state.update(std::move(machine));
    // Loads and rates need a previous reading.
    if (++readings == 1) continue;
    const auto result = print_frame(state, settings);
    if (result == WriteResult::reader_gone) break;
    if (result == WriteResult::failed) return ExitCode::failed;
    ++printed_frames;
  }
  if (has_failed) return make_failure("the search for GPUs failed: " + failure_reason);
  return ExitCode::done;
}

}  // namespace hmn::cli::top
