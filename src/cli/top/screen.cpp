// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"
#include "cli/top/frame.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/gpu_pages.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/process_pages.hpp"
#include "cli/top/state.hpp"

namespace hmn::cli::top {
namespace {

struct PageLine {
  std::string label;
  std::string text;
  CellStyle style;
};

std::vector<PageLine> make_lines(const std::vector<Entry>& entries, int width, bool ascii_only) {
  std::vector<PageLine> lines;
  for (const auto& entry : entries) {
    const bool is_known = !entry.value.empty();
    const auto text =
        is_known ? entry.value : "unknown" + (entry.reason.empty() ? "" : ": " + entry.reason);
    bool is_first = true;
    for (auto& line : wrap_text(escape_for_text(text, ascii_only), width)) {
      lines.push_back({is_first ? entry.label : "", std::move(line),
                       is_known ? CellStyle::plain : CellStyle::faint});
      is_first = false;
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> wrap_text(const std::string& text, int width) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  const auto columns = static_cast<std::size_t>(std::max(width, 2));
  while (display_width(rest) > columns) {
    auto part = cut_to_width(rest, columns, "");
    const auto blank = part.rfind(' ');
    if (blank != std::string::npos && blank > part.size() / 2) part.resize(blank + 1);
    rest.remove_prefix(part.size());
    lines.push_back(std::move(part));
  }
  lines.emplace_back(rest);
  return lines;
}

void draw_entries(Frame& frame, Area area, const std::vector<Entry>& entries,
                  TextPosition& position, int label_columns) {
  const auto lines = make_lines(entries, area.width - label_columns - 2, frame.glyphs().ascii_only);
  const auto height = static_cast<std::size_t>(std::max(area.height, 0));
  position.visible = height;
  position.top = std::min(position.top, lines.size() > height ? lines.size() - height : 0);
  const auto first = position.top;
  int y = area.y;
  for (auto i = first; i < lines.size() && i < first + height; ++i, ++y) {
    frame.put(area.x + 1, y, lines[i].label, CellStyle::accent, label_columns - 1);
    frame.put(area.x + 1 + label_columns, y, lines[i].text, lines[i].style);
  }
  if (first + height < lines.size())
    frame.put_right(area.x + area.width - 1, area.y + area.height - 1,
                    frame.has_unicode() ? " ↓ more " : " v more ", CellStyle::accent);
}

namespace {

std::string format_interval(std::chrono::milliseconds interval) {
  if (interval.count() % 1000 == 0) return fmt::format("{} s", interval.count() / 1000);
  return fmt::format("{} ms", interval.count());
}

std::string format_ram(const MachineReading& machine) {
  if (!machine.host || !machine.host->total_bytes) return "RAM ?";
  if (!machine.host->available_bytes)
    return "RAM ?/" + format_gib(*machine.host->total_bytes) + " GiB";
  const auto used = *machine.host->total_bytes -
                    std::min(*machine.host->total_bytes, *machine.host->available_bytes);
  return fmt::format("RAM {}/{} GiB", format_gib(used), format_gib(*machine.host->total_bytes));
}

std::string format_counts(const State& state) {
  const auto gpus = state.machine->gpus.size(), shown_processes = state.list.shown_count;
  const auto total = shown_processes + state.list.hidden_count;
  const auto count = state.machine->search_failed ? "?"
                     : state.machine->lacks_gpus  ? fmt::format(">={}", gpus)
                                                  : fmt::to_string(gpus);
  const bool is_none_known = state.machine->is_process_list_partial && total == 0;
  auto text = fmt::format("{} GPU{}  {}", count, gpus == 1 ? "" : "s",
                          is_none_known               ? "?"
                          : state.machine->is_process_list_partial ? fmt::format(">={}", shown_processes)
                                                      : fmt::to_string(shown_processes));
  if (state.list.hidden_count > 0) text += fmt::format(" of {}", total);
  return text + (total == 1 ? " process" : " processes");
}

std::string format_choice(const State& state) {
  std::string text;
  if (state.choice.grouping) text += fmt::format("by {}  ", grouping_word(*state.choice.grouping));
  if (state.choice.device) text += fmt::format("GPU {} only  ", *state.choice.device);
  return text;
}

// Puts the filter as typed so far, with a cursor after it.
void put_filter(Frame& frame, int y, const State& state) {
  int x = frame.put(1, y, "filter: ", CellStyle::accent);
  const auto text = escape_for_text(state.choice.filter, frame.glyphs().ascii_only);
  x = frame.put(x, y, text);
  frame.put(x, y, frame.has_unicode() ? U'▏' : U'_', CellStyle::accent);
  const auto hint = std::string("Enter keeps it  Esc drops it ");
  if (x + 2 + static_cast<int>(hint.size()) < frame.width())
    frame.put_right(frame.width(), y, hint, CellStyle::faint);
}

}  // namespace

int put_hints(Frame& frame, int x, int y,
              std::initializer_list<std::pair<const char*, const char*>> hints) {
  for (const auto& [keys, effect] : hints) {
    const auto width = display_width(keys) + 1 + display_width(effect);
    if (x + static_cast<int>(width) > frame.width()) break;
    x = frame.put(x, y, keys, CellStyle::accent) + 1;
    x = frame.put(x, y, effect, CellStyle::faint) + 2;
  }
  return x;
}

void draw_header(Frame& frame, const Layout& layout, const State& state) {
  int x = frame.put(1, layout.header.y, "hmn top", CellStyle::title) + 2;
  if (!state.machine) return;
  if (state.is_simulated) x = frame.put(x, layout.header.y, "simulated", CellStyle::warning) + 2;
  if (state.is_read_only) x = frame.put(x, layout.header.y, "read-only", CellStyle::warning) + 2;
  x = frame.put(x, layout.header.y, format_counts(state)) + 2;
  std::string right = format_interval(state.interval) + " ";
  const auto ram = format_ram(*state.machine);
  if (x + static_cast<int>(ram.size() + right.size()) + 2 < frame.width())
    x = frame.put(x, layout.header.y, ram) + 2;
  const auto choice = format_choice(state);
  if (x + static_cast<int>(choice.size() + right.size()) < frame.width())
    x = frame.put(x, layout.header.y, choice, CellStyle::accent);
  if (state.is_paused)
    frame.put_right(frame.width() - 1, layout.header.y, "held", CellStyle::warning);
  else
    frame.put_right(frame.width(), layout.header.y, right, CellStyle::faint);
}

void draw_footer(Frame& frame, const Layout& layout, const State& state) {
  const int y = layout.footer.y;
  if (state.is_filtering) return put_filter(frame, y, state);
  const int x = put_hints(frame, 1, y, {{"?", "help"}, {"q", "quit"}});
  if (!state.choice.filter.empty()) {
    frame.put(x, y,
              "filter: " + escape_for_text(state.choice.filter, frame.glyphs().ascii_only) +
                  "  (/ changes it, Esc drops it)",
              CellStyle::warning);
    return;
  }
  put_hints(frame, x, y,
            {{"/", "filter"},
             {"<>", "sort"},
             {"r", "reverse"},
             {"g", "group"},
             {"t", "time"},
             {"Enter", "details"},
             {"v", "curves"},
             {"c", "columns"},
             {"x", "signal"},
             {"Tab", "GPUs"},
             {"d", "one GPU"},
             {"Space", "hold"}});
}

namespace {

// Returns an area of that size in the middle.
Area centre_area(Area outer, int width, int height) {
  width = std::min(width, outer.width);
  height = std::min(height, outer.height);
  return {outer.x + (outer.width - width) / 2, outer.y + (outer.height - height) / 2, width,
          height};
}

Area draw_dialog(Frame& frame, Area area, int width, int height, std::string_view title,
                 std::string_view hint) {
  const auto dialog = centre_area(area, width, height);
  draw_box(frame, dialog, title, "", hint, "");
  return dialog.inside();
}

}  // namespace

void draw_help_page(Frame& frame, Area area, State& state) {
  constexpr int keys_width = 29;
  std::vector<Entry> entries;
  for (const auto& help : all_key_help())
    entries.push_back({std::string(help.keys), std::string(help.effect), {}});
  draw_entries(frame, area, entries, state.text_position, keys_width);
}

void draw_columns_page(Frame& frame, Area area, const State& state) {
  const auto inner = draw_dialog(frame, area, 60, static_cast<int>(column_count) + 2, "columns",
                                 "Space shows or hides, Enter is done");
  for (std::size_t i = 0; i < column_count; ++i) {
    const int y = inner.y + static_cast<int>(i);
    const auto& facts = column_facts(column_at(i));
    frame.put(inner.x + 1, y, state.columns.test(i) ? "[x]" : "[ ]", CellStyle::accent);
    frame.put(inner.x + 5, y, facts.title, CellStyle::strong);
    frame.put(inner.x + 16, y, facts.meaning, CellStyle::plain, inner.width - 16);
    if (i == state.column_cursor.position) frame.select(inner.x, y, inner.width);
  }
}

void draw_signals_page(Frame& frame, Area area, const State& state) {
  const auto signals = list_signal_choices();
  const auto* const process = state.selected_process();
  const auto title =
      process != nullptr ? fmt::format("signal to {}", process->usage.pid) : std::string("signal");
  const auto inner = draw_dialog(frame, area, 48, static_cast<int>(signals.size()) + 2, title,
                                 "Enter chooses, Esc goes back");
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const int y = inner.y + static_cast<int>(i);
    frame.put_right(inner.x + 3, y, fmt::to_string(signals[i].number), CellStyle::faint);
    frame.put(inner.x + 5, y, signals[i].name, CellStyle::strong);
    frame.put(inner.x + 12, y, signals[i].effect);
    if (i == state.signal_cursor.position) frame.select(inner.x, y, inner.width);
  }
}

void draw_confirmation(Frame& frame, Area area, const State& state) {
  if (!state.pending_signal) return;
  const auto& pending = *state.pending_signal;
  const auto inner =
      draw_dialog(frame, area, 56, 5, "send a signal?", "y sends, any other key does not");
  const auto name = escape_for_text(pending.name, frame.glyphs().ascii_only);
  frame.put(
      inner.x + 1, inner.y + 1,
      cut_to_width(fmt::format("Send {} to process {} ({})?", pending.signal.name,
                               pending.process.pid, name),
                   static_cast<std::size_t>(inner.width - 2), frame.has_unicode() ? "…" : "..."),
      CellStyle::warning);
}

namespace {

void draw_too_small(Frame& frame) {
  frame.put(0, 0, "hmn top", CellStyle::title);
  frame.put(0, 1, fmt::format("needs {} x {}", min_screen_width, min_screen_height),
            CellStyle::warning);
  frame.put(0, 2, fmt::format("here are {} x {}", frame.width(), frame.height()));
}

void draw_main(Frame& frame, const Layout& layout, const State& state) {
  draw_gpu_table(frame, layout, state);
  draw_gpu_charts(frame, layout.charts, state);
  draw_process_table(frame, layout, state);
}

void draw_page(Frame& frame, const Layout& layout, State& state) {
  const Area area{0, 1, frame.width(), frame.height() - 2};
  switch (state.page) {
    case Page::main:
      return draw_main(frame, layout, state);
    case Page::help:
      return draw_help_page(frame, area, state);
    case Page::gpu:
      return draw_gpu_page(frame, area, state);
    case Page::process:
      return draw_process_page(frame, area, state);
    case Page::columns:
      return draw_columns_page(frame, area, state);
    case Page::signals:
      return draw_signals_page(frame, area, state);
    case Page::confirmation:
      return draw_confirmation(frame, area, state);
  }
}

void draw_page_footer(Frame& frame, const Layout& layout, const State& state) {
  const int y = layout.footer.y;
  if (!state.message.empty() && !state.is_filtering) {
    frame.put(1, y, escape_for_text(state.message, frame.glyphs().ascii_only), CellStyle::warning);
    return;
  }
  if (state.page == Page::main) return draw_footer(frame, layout, state);
  if (state.page == Page::help || state.page == Page::columns)
    put_hints(frame, 1, y, {{"Esc", "back"}, {"Up Down", "move"}});
  else if (state.page == Page::gpu)
    put_hints(frame, 1, y,
              {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"[ ]", "other GPU"}});
  else if (state.page == Page::process)
    put_hints(frame, 1, y,
              {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"x", "signal"}});
}

}  // namespace

Frame draw_screen(State& state, int width, int height, Glyphs glyphs) {
  Frame frame(width, height, glyphs);
  if (width < min_screen_width || height < min_screen_height) {
    draw_too_small(frame);
    return frame;
  }
  const auto layout = make_layout(state, frame.bounds());
  scroll_lists(state, layout);
  draw_header(frame, layout, state);
  draw_page(frame, layout, state);
  draw_page_footer(frame, layout, state);
  return frame;
}

std::size_t count_page_lines(const State& state, int width, int height) {
  if (state.page != Page::main) return state.text_position.visible;
  const auto layout = make_layout(state, {0, 0, width, height});
  return state.focus == Focus::gpus ? layout.gpu_rows() : layout.process_rows();
}

}  // namespace hmn::cli::top
