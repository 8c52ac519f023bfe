// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/keys.hpp"

#include <algorithm>

#include "cli/text/unicode.hpp"

namespace hmn::cli::top {
namespace {

constexpr key_help help_lines[] = {
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

std::ptrdiff_t distance_of(key what, std::size_t page_lines, std::size_t count) {
  const auto lines = static_cast<std::ptrdiff_t>(std::max<std::size_t>(page_lines, 1));
  const auto all = static_cast<std::ptrdiff_t>(count);
  switch (what) {
    case key::up:
      return -1;
    case key::down:
      return 1;
    case key::page_up:
      return -lines;
    case key::page_down:
      return lines;
    case key::home:
      return -all;
    case key::end:
      return all;
    default:
      return 0;
  }
}

// Returns the key that another one stands for.
key_press meant_by(key_press pressed) {
  if (pressed.what == key::f1) return {key::character, U'?'};
  if (pressed.what == key::f9) return {key::character, U'x'};
  if (pressed.what != key::character) return pressed;
  if (pressed.character == U'k') return {key::up};
  if (pressed.character == U'j') return {key::down};
  if (pressed.character == U'G') return {key::end};
  return pressed;
}

void move_in(state& in, key what, std::size_t page_lines) {
  if (in.on == focus::processes)
    in.move_process(distance_of(what, page_lines, in.list.lines.size()));
  else
    in.move_gpu(distance_of(what, page_lines, in.now ? in.now->gpus.size() : 0));
}

void sort_by_next(state& in, bool forward) {
  auto position = static_cast<std::size_t>(in.choice.sort);
  do {
    position = (position + (forward ? 1 : column_count - 1)) % column_count;
  } while (!in.columns.test(position) && in.columns.any());
  in.choice.sort = column_at(position);
  in.choice.is_reverse = false;
  in.rebuild();
}

void set_filter(state& in, std::string filter) {
  in.choice.filter = std::move(filter);
  in.rebuild();
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u)
    text.pop_back();
  if (!text.empty()) text.pop_back();
}

request edit_filter(state& in, key_press pressed, std::size_t page_lines) {
  auto text = in.choice.filter;
  switch (pressed.what) {
    case key::enter:
      in.is_filtering = false;
      return request::none;
    case key::escape:
      in.is_filtering = false;
      set_filter(in, {});
      return request::none;
    case key::backspace:
      remove_last_character(text);
      set_filter(in, text);
      return request::none;
    case key::character:
      append_utf8(text, pressed.character);
      set_filter(in, text);
      return request::none;
    default:
      move_in(in, pressed.what, page_lines);
      return request::none;
  }
}

void choose_signal(state& in) {
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
  in.at = page::signals;
}

void open_details(state& in) {
  in.text = {};
  if (in.on == focus::gpus)
    in.at = in.gpu() != nullptr ? page::gpu : page::main;
  else if (in.process() != nullptr)
    in.at = page::process;
}

void group_by_next(state& in) {
  if (!in.choice.by)
    in.choice.by = grouping::user;
  else if (in.choice.by == grouping::user)
    in.choice.by = grouping::container;
  else
    in.choice.by.reset();
  in.rebuild();
}

void toggle_device(state& in) {
  if (in.choice.device)
    in.choice.device.reset();
  else if (in.gpu() != nullptr)
    in.choice.device = in.gpu()->of.device.index;
  in.rebuild();
}

void show_next_charts(state& in) {
  in.charts = in.charts == chart_choice::selected ? chart_choice::all
              : in.charts == chart_choice::all    ? chart_choice::none
                                                  : chart_choice::selected;
}

void go_back(state& in) {
  if (in.at != page::main)
    in.at = page::main;
  else if (!in.choice.filter.empty())
    set_filter(in, {});
  in.pending.reset();
}

// Keys that mean the same on each page that shows values.
bool press_anywhere(state& in, char32_t character) {
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
      if (in.at != page::gpu) choose_signal(in);
      return true;
    default:
      return false;
  }
}

request press_on_main(state& in, char32_t character) {
  switch (character) {
    case U'q':
      return request::quit;
    case U'?':
    case U'h':
      in.text = {};
      in.at = page::help;
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
      in.at = page::columns;
      break;
    case U'v':
      show_next_charts(in);
      break;
    default:
      press_anywhere(in, character);
  }
  return request::none;
}

request press_on_text(state& in, key_press pressed, std::size_t page_lines) {
  if (pressed.what == key::enter || (pressed.what == key::character &&
                                     (pressed.character == U'q' || pressed.character == U'?'))) {
    go_back(in);
    return request::none;
  }
  if (pressed.what == key::character) {
    if (in.at != page::help) press_anywhere(in, pressed.character);
    return request::none;
  }
  constexpr std::size_t longest_text = 10'000;
  const auto to = static_cast<std::ptrdiff_t>(in.text.top) +
                  distance_of(pressed.what, page_lines, longest_text);
  in.text.top = static_cast<std::size_t>(std::max<std::ptrdiff_t>(to, 0));
  return request::none;
}

request press_on_columns(state& in, key_press pressed) {
  const auto is = [&](char32_t wanted) {
    return pressed.what == key::character && pressed.character == wanted;
  };
  if (pressed.what == key::enter || is(U'q') || is(U'c'))
    go_back(in);
  else if (is(U' '))
    in.columns.flip(in.column_list.at);
  else
    in.column_list.move(distance_of(pressed.what, column_count, column_count), column_count);
  return request::none;
}

request press_on_signals(state& in, key_press pressed) {
  const auto all = signal_choices();
  if (pressed.what == key::character && pressed.character == U'q') {
    go_back(in);
  } else if (pressed.what == key::enter) {
    const auto* chosen = in.process();
    in.at = chosen != nullptr ? page::confirmation : page::main;
    if (chosen != nullptr)
      in.pending = {all[in.signal_list.at], chosen->identity(),
                    chosen->usage.process_name.value_or("?")};
  } else {
    in.signal_list.move(distance_of(pressed.what, all.size(), all.size()), all.size());
  }
  return request::none;
}

request press_on_confirmation(state& in, key_press pressed) {
  const bool is_yes =
      pressed.what == key::character && (pressed.character == U'y' || pressed.character == U'Y');
  in.at = page::main;
  if (is_yes && in.pending) return request::send_signal;
  in.pending.reset();
  in.message = "nothing was sent";
  return request::none;
}

request press_special_on_main(state& in, key what, std::size_t page_lines) {
  constexpr std::size_t scroll_step = 8;
  switch (what) {
    case key::tab:
      in.on = in.on == focus::processes ? focus::gpus : focus::processes;
      break;
    case key::enter:
      open_details(in);
      break;
    case key::left:
      in.command_offset -= std::min(in.command_offset, scroll_step);
      break;
    case key::right:
      in.command_offset = std::min<std::size_t>(in.command_offset + scroll_step, 4096);
      break;
    default:
      move_in(in, what, page_lines);
  }
  return request::none;
}

}  // namespace

std::span<const key_help> all_key_help() {
  return help_lines;
}

request press(state& in, key_press pressed, std::size_t page_lines) {
  in.message.clear();
  if (pressed.what == key::character && pressed.character == 0x0C) return request::redraw;
  if (in.is_filtering) return edit_filter(in, pressed, page_lines);
  if (in.at == page::confirmation) return press_on_confirmation(in, pressed);
  if (pressed.what == key::escape) return go_back(in), request::none;
  pressed = meant_by(pressed);
  switch (in.at) {
    case page::columns:
      return press_on_columns(in, pressed);
    case page::signals:
      return press_on_signals(in, pressed);
    case page::main:
      break;
    default:
      return press_on_text(in, pressed, page_lines);
  }
  if (pressed.what == key::character) return press_on_main(in, pressed.character);
  return press_special_on_main(in, pressed.what, page_lines);
}

}  // namespace hmn::cli::top
