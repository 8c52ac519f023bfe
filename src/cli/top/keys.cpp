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

std::ptrdiff_t scroll_distance(Key key, std::size_t page_lines, std::size_t count) {
  const auto lines = static_cast<std::ptrdiff_t>(std::max<std::size_t>(page_lines, 1));
  const auto total = static_cast<std::ptrdiff_t>(count);
  switch (key) {
    case Key::up:
      return -1;
    case Key::down:
      return 1;
    case Key::page_up:
      return -lines;
    case Key::page_down:
      return lines;
    case Key::home:
      return -total;
    case Key::end:
      return total;
    default:
      return 0;
  }
}

// Replaces a key that is another name for one, for example F1 for ?.
KeyPress resolve_alias(KeyPress press) {
  if (press.key == Key::f1) return {Key::character, U'?'};
  if (press.key == Key::f9) return {Key::character, U'x'};
  if (press.key != Key::character) return press;
  if (press.character == U'k') return {Key::up};
  if (press.character == U'j') return {Key::down};
  if (press.character == U'G') return {Key::end};
  return press;
}

void move_cursor(State& state, Key key, std::size_t page_lines) {
  if (state.focus == Focus::processes)
    state.move_process(scroll_distance(key, page_lines, state.list.lines.size()));
  else
    state.move_gpu(
        scroll_distance(key, page_lines, state.machine ? state.machine->gpus.size() : 0));
}

void sort_by_next_column(State& state, bool is_forward) {
  auto position = static_cast<std::size_t>(state.choice.sort);
  do {
    position = (position + (is_forward ? 1 : column_count - 1)) % column_count;
  } while (!state.columns.test(position) && state.columns.any());
  state.choice.sort = column_at(position);
  state.choice.is_reverse = false;
  state.rebuild_list();
}

void set_filter(State& state, std::string filter) {
  state.choice.filter = std::move(filter);
  state.rebuild_list();
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u)
    text.pop_back();
  if (!text.empty()) text.pop_back();
}

KeyAction edit_filter(State& state, KeyPress press, std::size_t page_lines) {
  auto text = state.choice.filter;
  switch (press.key) {
    case Key::enter:
      state.is_filtering = false;
      return KeyAction::none;
    case Key::escape:
      state.is_filtering = false;
      set_filter(state, {});
      return KeyAction::none;
    case Key::backspace:
      remove_last_character(text);
      set_filter(state, text);
      return KeyAction::none;
    case Key::character:
      append_utf8(text, press.character);
      set_filter(state, text);
      return KeyAction::none;
    default:
      move_cursor(state, press.key, page_lines);
      return KeyAction::none;
  }
}

void choose_signal(State& state) {
  const auto* process = state.selected_process();
  if (process == nullptr) {
    state.message = "no process is chosen";
    return;
  }
  if (state.is_read_only) {
    state.message = "--read-only: no signals are sent";
    return;
  }
  if (list_signal_choices().empty() || state.is_simulated) {
    state.message = state.is_simulated ? "a simulated process takes no signals"
                                       : "signals are not supported on this system";
    return;
  }
  if (has(process->usage.notes, hypomnesis::note::foreign_pid)) {
    state.message = "a process of another PID namespace takes no signals from here";
    return;
  }
  state.signal_cursor = {};
  state.page = Page::signals;
}

void open_details(State& state) {
  state.text_position = {};
  if (state.focus == Focus::gpus)
    state.page = state.selected_gpu() != nullptr ? Page::gpu : Page::main;
  else if (state.selected_process() != nullptr)
    state.page = Page::process;
}

void group_by_next(State& state) {
  if (!state.choice.grouping)
    state.choice.grouping = Grouping::user;
  else if (state.choice.grouping == Grouping::user)
    state.choice.grouping = Grouping::container;
  else
    state.choice.grouping.reset();
  state.rebuild_list();
}

void toggle_device(State& state) {
  if (state.choice.device)
    state.choice.device.reset();
  else if (state.selected_gpu() != nullptr)
    state.choice.device = state.selected_gpu()->gpu.device.index;
  state.rebuild_list();
}

void show_next_charts(State& state) {
  state.charts = state.charts == ChartChoice::selected ? ChartChoice::all
                 : state.charts == ChartChoice::all    ? ChartChoice::none
                                                       : ChartChoice::selected;
}

void go_back(State& state) {
  if (state.page != Page::main)
    state.page = Page::main;
  else if (!state.choice.filter.empty())
    set_filter(state, {});
  state.pending_signal.reset();
}

// Handles keys that mean the same on each page of values; returns false for any other.
bool handle_common_key(State& state, char32_t character) {
  switch (character) {
    case U't':
    case U'T':
      state.span = next_span(state.span, character == U't');
      return true;
    case U'[':
    case U']':
      state.move_gpu(character == U'[' ? -1 : 1);
      return true;
    case U' ':
      state.is_paused = !state.is_paused;
      return true;
    case U'x':
      if (state.page != Page::gpu) choose_signal(state);
      return true;
    default:
      return false;
  }
}

KeyAction handle_main_character(State& state, char32_t character) {
  switch (character) {
    case U'q':
      return KeyAction::quit;
    case U'?':
    case U'h':
      state.text_position = {};
      state.page = Page::help;
      break;
    case U'<':
    case U'>':
      sort_by_next_column(state, character == U'>');
      break;
    case U'r':
      state.choice.is_reverse = !state.choice.is_reverse;
      state.rebuild_list();
      break;
    case U'/':
      state.is_filtering = true;
      break;
    case U'g':
      group_by_next(state);
      break;
    case U'd':
      toggle_device(state);
      break;
    case U'c':
      state.page = Page::columns;
      break;
    case U'v':
      show_next_charts(state);
      break;
    default:
      handle_common_key(state, character);
  }
  return KeyAction::none;
}

KeyAction handle_text_key(State& state, KeyPress press, std::size_t page_lines) {
  if (press.key == Key::enter ||
      (press.key == Key::character && (press.character == U'q' || press.character == U'?'))) {
    go_back(state);
    return KeyAction::none;
  }
  if (press.key == Key::character) {
    if (state.page != Page::help) handle_common_key(state, press.character);
    return KeyAction::none;
  }
  constexpr std::size_t max_text_lines = 10'000;
  const auto top = static_cast<std::ptrdiff_t>(state.text_position.top) +
                   scroll_distance(press.key, page_lines, max_text_lines);
  state.text_position.top = static_cast<std::size_t>(std::max<std::ptrdiff_t>(top, 0));
  return KeyAction::none;
}

KeyAction handle_columns_key(State& state, KeyPress press) {
  const auto is_character = [&](char32_t character) {
    return press.key == Key::character && press.character == character;
  };
  if (press.key == Key::enter || is_character(U'q') || is_character(U'c'))
    go_back(state);
  else if (is_character(U' '))
    state.columns.flip(state.column_cursor.position);
  else
    state.column_cursor.move(scroll_distance(press.key, column_count, column_count), column_count);
  return KeyAction::none;
}

KeyAction handle_signals_key(State& state, KeyPress press) {
  const auto signals = list_signal_choices();
  if (press.key == Key::character && press.character == U'q') {
    go_back(state);
  } else if (press.key == Key::enter) {
    const auto* process = state.selected_process();
    state.page = process != nullptr ? Page::confirmation : Page::main;
    if (process != nullptr)
      state.pending_signal = {signals[state.signal_cursor.position], process->identity(),
                              process->usage.process_name.value_or("?")};
  } else {
    state.signal_cursor.move(scroll_distance(press.key, signals.size(), signals.size()),
                             signals.size());
  }
  return KeyAction::none;
}

KeyAction handle_confirmation_key(State& state, KeyPress press) {
  const bool is_yes =
      press.key == Key::character && (press.character == U'y' || press.character == U'Y');
  state.page = Page::main;
  if (is_yes && state.pending_signal) return KeyAction::send_signal;
  state.pending_signal.reset();
  state.message = "nothing was sent";
  return KeyAction::none;
}

KeyAction handle_main_key(State& state, Key key, std::size_t page_lines) {
  constexpr std::size_t scroll_step = 8;
  switch (key) {
    case Key::tab:
      state.focus = state.focus == Focus::processes ? Focus::gpus : Focus::processes;
      break;
    case Key::enter:
      open_details(state);
      break;
    case Key::left:
      state.command_offset -= std::min(state.command_offset, scroll_step);
      break;
    case Key::right:
      state.command_offset = std::min<std::size_t>(state.command_offset + scroll_step, 4096);
      break;
    default:
      move_cursor(state, key, page_lines);
  }
  return KeyAction::none;
}

}  // namespace

std::span<const KeyHelp> all_key_help() {
  return help_lines;
}

KeyAction handle_key(State& state, KeyPress press, std::size_t page_lines) {
  state.message.clear();
  if (press.key == Key::character && press.character == 0x0C) return KeyAction::redraw;
  if (state.is_filtering) return edit_filter(state, press, page_lines);
  if (state.page == Page::confirmation) return handle_confirmation_key(state, press);
  if (press.key == Key::escape) return go_back(state), KeyAction::none;
  press = resolve_alias(press);
  switch (state.page) {
    case Page::columns:
      return handle_columns_key(state, press);
    case Page::signals:
      return handle_signals_key(state, press);
    case Page::main:
      break;
    default:
      return handle_text_key(state, press, page_lines);
  }
  if (press.key == Key::character) return handle_main_character(state, press.character);
  return handle_main_key(state, press.key, page_lines);
}

}  // namespace hmn::cli::top
