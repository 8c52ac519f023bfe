// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/keys.hpp"

#include <algorithm>

#include "cli/text/unicode.hpp"

namespace hmn::cli::top {
namespace {

constexpr KeyHelp help_lines[] = {
    {"Up Down PgUp PgDn Home End", "move in the list"},
    {"Tab", "go from the processes to the GPUs, and back"},
    {"[ ]", "previous, next GPU"},
    {"Enter", "all about the process, or the GPU, with reasons of unknown values"},
    {"Esc", "back; drop the filter"},
    {"< >", "sort by the previous, next column"},
    {"r", "reverse the order"},
    {"/", "filter as you type: pid, user, name, command, container"},
    {"g", "group by user, by container, not at all"},
    {"d", "only the processes of the chosen GPU, or of all"},
    {"c", "choose columns"},
    {"Left Right", "scroll the command lines"},
    {"t T", "longer, shorter time of the curves"},
    {"v", "curves of the chosen GPU, of all GPUs, none"},
    {"x F9", "send a signal to the chosen process"},
    {"Space", "hold the values, and go on"},
    {"? h F1", "this help"},
    {"q", "quit"},
};

std::ptrdiff_t distance_of(Key what, std::size_t page_lines, std::size_t count) {
  const auto lines = static_cast<std::ptrdiff_t>(std::max<std::size_t>(page_lines, 1));
  const auto all = static_cast<std::ptrdiff_t>(count);
  switch (what) {
    case Key::up:
      return -1;
    case Key::down:
      return 1;
    case Key::page_up:
      return -lines;
    case Key::page_down:
      return lines;
    case Key::home:
      return -all;
    case Key::end:
      return all;
    default:
      return 0;
  }
}

// Returns the key that another one stands for.
KeyPress meant_by(KeyPress pressed) {
  if (pressed.what == Key::f1) return {Key::character, U'?'};
  if (pressed.what == Key::f9) return {Key::character, U'x'};
  if (pressed.what != Key::character) return pressed;
  if (pressed.character == U'k') return {Key::up};
  if (pressed.character == U'j') return {Key::down};
  if (pressed.character == U'G') return {Key::end};
  return pressed;
}

void move_in(State& in, Key what, std::size_t page_lines) {
  if (in.on == Focus::processes)
    in.move_process(distance_of(what, page_lines, in.list.lines.size()));
  else
    in.move_gpu(distance_of(what, page_lines, in.now ? in.now->gpus.size() : 0));
}

void sort_by_next(State& in, bool forward) {
  auto position = static_cast<std::size_t>(in.choice.sort);
  do {
    position = (position + (forward ? 1 : column_count - 1)) % column_count;
  } while (!in.columns.test(position) && in.columns.any());
  in.choice.sort = column_at(position);
  in.choice.is_reverse = false;
  in.rebuild();
}

void set_filter(State& in, std::string filter) {
  in.choice.filter = std::move(filter);
  in.rebuild();
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u)
    text.pop_back();
  if (!text.empty()) text.pop_back();
}

Request edit_filter(State& in, KeyPress pressed, std::size_t page_lines) {
  auto text = in.choice.filter;
  switch (pressed.what) {
    case Key::enter:
      in.is_filtering = false;
      return Request::none;
    case Key::escape:
      in.is_filtering = false;
      set_filter(in, {});
      return Request::none;
    case Key::backspace:
      remove_last_character(text);
      set_filter(in, text);
      return Request::none;
    case Key::character:
      append_utf8(text, pressed.character);
      set_filter(in, text);
      return Request::none;
    default:
      move_in(in, pressed.what, page_lines);
      return Request::none;
  }
}

void choose_signal(State& in) {
  const auto* chosen = in.process();
  if (chosen == nullptr) {
    in.message = "no process is chosen";
    return;
  }
  if (in.is_read_only) {
    in.message = "--read-only: no signals are sent";
    return;
  }
  if (signal_choices().empty() || in.is_simulated) {
    in.message = in.is_simulated ? "a simulated process takes no signals"
                                 : "signals are not supported on this system";
    return;
  }
  if (has(chosen->usage.notes, hypomnesis::note::foreign_pid)) {
    in.message = "a process of another PID namespace takes no signals from here";
    return;
  }
  in.signal_list = {};
  in.at = Page::signals;
}

void open_details(State& in) {
  in.text = {};
  if (in.on == Focus::gpus)
    in.at = in.gpu() != nullptr ? Page::gpu : Page::main;
  else if (in.process() != nullptr)
    in.at = Page::process;
}

void group_by_next(State& in) {
  if (!in.choice.by)
    in.choice.by = Grouping::user;
  else if (in.choice.by == Grouping::user)
    in.choice.by = Grouping::container;
  else
    in.choice.by.reset();
  in.rebuild();
}

void toggle_device(State& in) {
  if (in.choice.device)
    in.choice.device.reset();
  else if (in.gpu() != nullptr)
    in.choice.device = in.gpu()->of.device.index;
  in.rebuild();
}

void show_next_charts(State& in) {
  in.charts = in.charts == ChartChoice::selected ? ChartChoice::all
              : in.charts == ChartChoice::all    ? ChartChoice::none
                                                 : ChartChoice::selected;
}

void go_back(State& in) {
  if (in.at != Page::main)
    in.at = Page::main;
  else if (!in.choice.filter.empty())
    set_filter(in, {});
  in.pending.reset();
}

// Keys that mean the same on each page that shows values.
bool press_anywhere(State& in, char32_t character) {
  switch (character) {
    case U't':
    case U'T':
      in.length = next_span(in.length, character == U't');
      return true;
    case U'[':
    case U']':
      in.move_gpu(character == U'[' ? -1 : 1);
      return true;
    case U' ':
      in.is_paused = !in.is_paused;
      return true;
    case U'x':
      if (in.at != Page::gpu) choose_signal(in);
      return true;
    default:
      return false;
  }
}

Request press_on_main(State& in, char32_t character) {
  switch (character) {
    case U'q':
      return Request::quit;
    case U'?':
    case U'h':
      in.text = {};
      in.at = Page::help;
      break;
    case U'<':
    case U'>':
      sort_by_next(in, character == U'>');
      break;
    case U'r':
      in.choice.is_reverse = !in.choice.is_reverse;
      in.rebuild();
      break;
    case U'/':
      in.is_filtering = true;
      break;
    case U'g':
      group_by_next(in);
      break;
    case U'd':
      toggle_device(in);
      break;
    case U'c':
      in.at = Page::columns;
      break;
    case U'v':
      show_next_charts(in);
      break;
    default:
      press_anywhere(in, character);
  }
  return Request::none;
}

Request press_on_text(State& in, KeyPress pressed, std::size_t page_lines) {
  if (pressed.what == Key::enter || (pressed.what == Key::character &&
                                     (pressed.character == U'q' || pressed.character == U'?'))) {
    go_back(in);
    return Request::none;
  }
  if (pressed.what == Key::character) {
    if (in.at != Page::help) press_anywhere(in, pressed.character);
    return Request::none;
  }
  constexpr std::size_t longest_text = 10'000;
  const auto to = static_cast<std::ptrdiff_t>(in.text.top) +
                  distance_of(pressed.what, page_lines, longest_text);
  in.text.top = static_cast<std::size_t>(std::max<std::ptrdiff_t>(to, 0));
  return Request::none;
}

Request press_on_columns(State& in, KeyPress pressed) {
  const auto is = [&](char32_t wanted) {
    return pressed.what == Key::character && pressed.character == wanted;
  };
  if (pressed.what == Key::enter || is(U'q') || is(U'c'))
    go_back(in);
  else if (is(U' '))
    in.columns.flip(in.column_list.at);
  else
    in.column_list.move(distance_of(pressed.what, column_count, column_count), column_count);
  return Request::none;
}

Request press_on_signals(State& in, KeyPress pressed) {
  const auto all = signal_choices();
  if (pressed.what == Key::character && pressed.character == U'q') {
    go_back(in);
  } else if (pressed.what == Key::enter) {
    const auto* chosen = in.process();
    in.at = chosen != nullptr ? Page::confirmation : Page::main;
    if (chosen != nullptr)
      in.pending = {all[in.signal_list.at], chosen->identity(),
                    chosen->usage.process_name.value_or("?")};
  } else {
    in.signal_list.move(distance_of(pressed.what, all.size(), all.size()), all.size());
  }
  return Request::none;
}

Request press_on_confirmation(State& in, KeyPress pressed) {
  const bool is_yes =
      pressed.what == Key::character && (pressed.character == U'y' || pressed.character == U'Y');
  in.at = Page::main;
  if (is_yes && in.pending) return Request::send_signal;
  in.pending.reset();
  in.message = "nothing was sent";
  return Request::none;
}

Request press_special_on_main(State& in, Key what, std::size_t page_lines) {
  constexpr std::size_t scroll_step = 8;
  switch (what) {
    case Key::tab:
      in.on = in.on == Focus::processes ? Focus::gpus : Focus::processes;
      break;
    case Key::enter:
      open_details(in);
      break;
    case Key::left:
      in.command_offset -= std::min(in.command_offset, scroll_step);
      break;
    case Key::right:
      in.command_offset = std::min<std::size_t>(in.command_offset + scroll_step, 4096);
      break;
    default:
      move_in(in, what, page_lines);
  }
  return Request::none;
}

}  // namespace

std::span<const KeyHelp> all_key_help() {
  return help_lines;
}

Request press(State& in, KeyPress pressed, std::size_t page_lines) {
  in.message.clear();
  if (pressed.what == Key::character && pressed.character == 0x0C) return Request::redraw;
  if (in.is_filtering) return edit_filter(in, pressed, page_lines);
  if (in.at == Page::confirmation) return press_on_confirmation(in, pressed);
  if (pressed.what == Key::escape) return go_back(in), Request::none;
  pressed = meant_by(pressed);
  switch (in.at) {
    case Page::columns:
      return press_on_columns(in, pressed);
    case Page::signals:
      return press_on_signals(in, pressed);
    case Page::main:
      break;
    default:
      return press_on_text(in, pressed, page_lines);
  }
  if (pressed.what == Key::character) return press_on_main(in, pressed.character);
  return press_special_on_main(in, pressed.what, page_lines);
}

}  // namespace hmn::cli::top
