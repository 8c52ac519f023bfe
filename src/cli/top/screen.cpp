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
  Ink with;
};

std::vector<PageLine> lines_of(const std::vector<Entry>& all, int width, bool ascii_only) {
  std::vector<PageLine> out;
  for (const auto& each : all) {
    const bool is_known = !each.value.empty();
    const auto text =
        is_known ? each.value : "unknown" + (each.reason.empty() ? "" : ": " + each.reason);
    bool is_first = true;
    for (auto& line : wrapped(escape_for_text(text, ascii_only), width)) {
      out.push_back(
          {is_first ? each.label : "", std::move(line), is_known ? Ink::plain : Ink::faint});
      is_first = false;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, int width) {
  std::vector<std::string> out;
  std::string_view rest = text;
  const auto columns = static_cast<std::size_t>(std::max(width, 2));
  while (display_width(rest) > columns) {
    auto part = cut_to_width(rest, columns, "");
    const auto blank = part.rfind(' ');
    if (blank != std::string::npos && blank > part.size() / 2) part.resize(blank + 1);
    rest.remove_prefix(part.size());
    out.push_back(std::move(part));
  }
  out.emplace_back(rest);
  return out;
}

void draw_entries(Frame& on, Area where, const std::vector<Entry>& all, TextPosition& in,
                  int labels) {
  const auto lines = lines_of(all, where.width - labels - 2, on.with().ascii_only);
  const auto height = static_cast<std::size_t>(std::max(where.height, 0));
  in.visible = height;
  in.top = std::min(in.top, lines.size() > height ? lines.size() - height : 0);
  const auto first = in.top;
  int y = where.y;
  for (auto i = first; i < lines.size() && i < first + height; ++i, ++y) {
    on.put(where.x + 1, y, lines[i].label, Ink::accent, labels - 1);
    on.put(where.x + 1 + labels, y, lines[i].text, lines[i].with);
  }
  if (first + height < lines.size())
    on.put_right(where.x + where.width - 1, where.y + where.height - 1,
                 on.has_unicode() ? " ↓ more " : " v more ", Ink::accent);
}

namespace {

std::string interval_text(std::chrono::milliseconds of) {
  if (of.count() % 1000 == 0) return fmt::format("{} s", of.count() / 1000);
  return fmt::format("{} ms", of.count());
}

std::string ram_text(const MachineReading& of) {
  if (!of.host || !of.host->total_bytes) return "RAM ?";
  if (!of.host->available_bytes) return "RAM ?/" + gib_text(*of.host->total_bytes) + " GiB";
  const auto used =
      *of.host->total_bytes - std::min(*of.host->total_bytes, *of.host->available_bytes);
  return fmt::format("RAM {}/{} GiB", gib_text(used), gib_text(*of.host->total_bytes));
}

std::string count_text(const State& of) {
  const auto gpus = of.now->gpus.size(), shown = of.list.shown;
  const auto all = shown + of.list.hidden;
  const auto count = of.now->search_failed ? "?"
                     : of.now->lacks_gpus  ? fmt::format(">={}", gpus)
                                           : fmt::to_string(gpus);
  const bool is_none_known = of.now->is_partial && all == 0;
  auto text = fmt::format("{} GPU{}  {}", count, gpus == 1 ? "" : "s",
                          is_none_known        ? "?"
                          : of.now->is_partial ? fmt::format(">={}", shown)
                                               : fmt::to_string(shown));
  if (of.list.hidden > 0) text += fmt::format(" of {}", all);
  return text + (all == 1 ? " process" : " processes");
}

std::string choice_text(const State& of) {
  std::string text;
  if (of.choice.by) text += fmt::format("by {}  ", word_of(*of.choice.by));
  if (of.choice.device) text += fmt::format("GPU {} only  ", *of.choice.device);
  return text;
}

// What is typed is shown from its end, where the next character is added.
void put_filter(Frame& on, int y, const State& of) {
  int x = on.put(1, y, "filter: ", Ink::accent);
  const auto text = escape_for_text(of.choice.filter, on.with().ascii_only);
  x = on.put(x, y, text);
  on.put(x, y, on.has_unicode() ? U'▏' : U'_', Ink::accent);
  const auto hint = std::string("Enter keeps it  Esc drops it ");
  if (x + 2 + static_cast<int>(hint.size()) < on.width())
    on.put_right(on.width(), y, hint, Ink::faint);
}

}  // namespace

int put_hints(Frame& on, int x, int y,
              std::initializer_list<std::pair<const char*, const char*>> all) {
  for (const auto& [keys, effect] : all) {
    const auto width = display_width(keys) + 1 + display_width(effect);
    if (x + static_cast<int>(width) > on.width()) break;
    x = on.put(x, y, keys, Ink::accent) + 1;
    x = on.put(x, y, effect, Ink::faint) + 2;
  }
  return x;
}

void draw_header(Frame& on, const Layout& in, const State& of) {
  int x = on.put(1, in.header.y, "hmn top", Ink::title) + 2;
  if (!of.now) return;
  if (of.is_simulated) x = on.put(x, in.header.y, "simulated", Ink::warning) + 2;
  if (of.is_read_only) x = on.put(x, in.header.y, "read-only", Ink::warning) + 2;
  x = on.put(x, in.header.y, count_text(of)) + 2;
  std::string right = interval_text(of.interval) + " ";
  const auto ram = ram_text(*of.now);
  if (x + static_cast<int>(ram.size() + right.size()) + 2 < on.width())
    x = on.put(x, in.header.y, ram) + 2;
  const auto choice = choice_text(of);
  if (x + static_cast<int>(choice.size() + right.size()) < on.width())
    x = on.put(x, in.header.y, choice, Ink::accent);
  if (of.is_paused)
    on.put_right(on.width() - 1, in.header.y, "held", Ink::warning);
  else
    on.put_right(on.width(), in.header.y, right, Ink::faint);
}

void draw_footer(Frame& on, const Layout& in, const State& of) {
  const int y = in.footer.y;
  if (of.is_filtering) return put_filter(on, y, of);
  const int x = put_hints(on, 1, y, {{"?", "help"}, {"q", "quit"}});
  if (!of.choice.filter.empty()) {
    on.put(x, y,
           "filter: " + escape_for_text(of.choice.filter, on.with().ascii_only) +
               "  (/ changes it, Esc drops it)",
           Ink::warning);
    return;
  }
  put_hints(on, x, y,
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
Area centred(Area in, int width, int height) {
  width = std::min(width, in.width);
  height = std::min(height, in.height);
  return {in.x + (in.width - width) / 2, in.y + (in.height - height) / 2, width, height};
}

Area draw_dialog(Frame& on, Area in, int width, int height, std::string_view title,
                 std::string_view hint) {
  const auto where = centred(in, width, height);
  draw_box(on, where, title, "", hint, "");
  return where.inside();
}

}  // namespace

void draw_help_page(Frame& on, Area where, State& of) {
  constexpr int keys_width = 29;
  std::vector<Entry> all;
  for (const auto& each : all_key_help())
    all.push_back({std::string(each.keys), std::string(each.effect), {}});
  draw_entries(on, where, all, of.text, keys_width);
}

void draw_columns_page(Frame& on, Area where, const State& of) {
  const auto inner = draw_dialog(on, where, 60, static_cast<int>(column_count) + 2, "columns",
                                 "Space shows or hides, Enter is done");
  for (std::size_t i = 0; i < column_count; ++i) {
    const int y = inner.y + static_cast<int>(i);
    const auto& facts = facts_of(column_at(i));
    on.put(inner.x + 1, y, of.columns.test(i) ? "[x]" : "[ ]", Ink::accent);
    on.put(inner.x + 5, y, facts.title, Ink::strong);
    on.put(inner.x + 16, y, facts.meaning, Ink::plain, inner.width - 16);
    if (i == of.column_list.at) on.select(inner.x, y, inner.width);
  }
}

void draw_signals_page(Frame& on, Area where, const State& of) {
  const auto all = signal_choices();
  const auto* const row = of.process();
  const auto title =
      row != nullptr ? fmt::format("signal to {}", row->usage.pid) : std::string("signal");
  const auto inner = draw_dialog(on, where, 48, static_cast<int>(all.size()) + 2, title,
                                 "Enter chooses, Esc goes back");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int y = inner.y + static_cast<int>(i);
    on.put_right(inner.x + 3, y, fmt::to_string(all[i].number), Ink::faint);
    on.put(inner.x + 5, y, all[i].name, Ink::strong);
    on.put(inner.x + 12, y, all[i].effect);
    if (i == of.signal_list.at) on.select(inner.x, y, inner.width);
  }
}

void draw_confirmation(Frame& on, Area where, const State& of) {
  if (!of.pending) return;
  const auto& to = *of.pending;
  const auto inner =
      draw_dialog(on, where, 56, 5, "send a signal?", "y sends, any other key does not");
  const auto name = escape_for_text(to.name, on.with().ascii_only);
  on.put(inner.x + 1, inner.y + 1,
         cut_to_width(fmt::format("Send {} to process {} ({})?", to.which.name, to.to.pid, name),
                      static_cast<std::size_t>(inner.width - 2), on.has_unicode() ? "…" : "..."),
         Ink::warning);
}

namespace {

void draw_too_small(Frame& on) {
  on.put(0, 0, "hmn top", Ink::title);
  on.put(0, 1, fmt::format("needs {} x {}", least_width, least_height), Ink::warning);
  on.put(0, 2, fmt::format("here are {} x {}", on.width(), on.height()));
}

void draw_main(Frame& on, const Layout& in, const State& of) {
  draw_gpu_table(on, in, of);
  draw_gpu_charts(on, in.charts, of);
  draw_process_table(on, in, of);
}

void draw_page(Frame& on, const Layout& in, State& of) {
  const Area where{0, 1, on.width(), on.height() - 2};
  switch (of.at) {
    case Page::main:
      return draw_main(on, in, of);
    case Page::help:
      return draw_help_page(on, where, of);
    case Page::gpu:
      return draw_gpu_page(on, where, of);
    case Page::process:
      return draw_process_page(on, where, of);
    case Page::columns:
      return draw_columns_page(on, where, of);
    case Page::signals:
      return draw_signals_page(on, where, of);
    case Page::confirmation:
      return draw_confirmation(on, where, of);
  }
}

void draw_page_footer(Frame& on, const Layout& in, const State& of) {
  const int y = in.footer.y;
  if (!of.message.empty() && !of.is_filtering) {
    on.put(1, y, escape_for_text(of.message, on.with().ascii_only), Ink::warning);
    return;
  }
  if (of.at == Page::main) return draw_footer(on, in, of);
  if (of.at == Page::help || of.at == Page::columns)
    put_hints(on, 1, y, {{"Esc", "back"}, {"Up Down", "move"}});
  else if (of.at == Page::gpu)
    put_hints(on, 1, y,
              {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"[ ]", "other GPU"}});
  else if (of.at == Page::process)
    put_hints(on, 1, y, {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"x", "signal"}});
}

}  // namespace

Frame draw_screen(State& of, int width, int height, Glyphs with) {
  Frame on(width, height, with);
  if (width < least_width || height < least_height) {
    draw_too_small(on);
    return on;
  }
  const auto in = layout_of(of, on.whole());
  fit(of, in);
  draw_header(on, in, of);
  draw_page(on, in, of);
  draw_page_footer(on, in, of);
  return on;
}

std::size_t page_lines_of(const State& of, int width, int height) {
  if (of.at != Page::main) return of.text.visible;
  const auto in = layout_of(of, {0, 0, width, height});
  return of.on == Focus::gpus ? in.gpu_rows() : in.process_rows();
}

}  // namespace hmn::cli::top
