// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/status_lines.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/text/escape.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/width.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

std::string interval_text(std::chrono::milliseconds of) {
  if (of.count() % 1000 == 0) return fmt::format("{} s", of.count() / 1000);
  return fmt::format("{} ms", of.count());
}

std::string ram_text(const machine_reading& of) {
  if (!of.host || !of.host->total_bytes) return "RAM ?";
  if (!of.host->available_bytes) return "RAM ?/" + gib_text(*of.host->total_bytes) + " GiB";
  const auto used =
      *of.host->total_bytes - std::min(*of.host->total_bytes, *of.host->available_bytes);
  return fmt::format("RAM {}/{} GiB", gib_text(used), gib_text(*of.host->total_bytes));
}

std::string count_text(const state& of) {
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

std::string choice_text(const state& of) {
  std::string text;
  if (of.choice.by) text += fmt::format("by {}  ", word_of(*of.choice.by));
  if (of.choice.device) text += fmt::format("GPU {} only  ", *of.choice.device);
  return text;
}

// What is typed is shown from its end, where the next character is added.
void put_filter(frame& on, int y, const state& of) {
  int x = on.put(1, y, "filter: ", ink::accent);
  const auto text = escape_for_text(of.choice.filter, on.with().ascii_only);
  x = on.put(x, y, text);
  on.put(x, y, on.has_unicode() ? U'▏' : U'_', ink::accent);
  const auto hint = std::string("Enter keeps it  Esc drops it ");
  if (x + 2 + static_cast<int>(hint.size()) < on.width())
    on.put_right(on.width(), y, hint, ink::faint);
}

}  // namespace

int put_hints(frame& on, int x, int y,
              std::initializer_list<std::pair<const char*, const char*>> all) {
  for (const auto& [keys, effect] : all) {
    const auto width = display_width(keys) + 1 + display_width(effect);
    if (x + static_cast<int>(width) > on.width()) break;
    x = on.put(x, y, keys, ink::accent) + 1;
    x = on.put(x, y, effect, ink::faint) + 2;
  }
  return x;
}

void draw_header(frame& on, const layout& in, const state& of) {
  int x = on.put(1, in.header.y, "hmn top", ink::title) + 2;
  if (!of.now) return;
  if (of.is_simulated) x = on.put(x, in.header.y, "simulated", ink::warning) + 2;
  x = on.put(x, in.header.y, count_text(of)) + 2;
  std::string right = interval_text(of.interval) + " ";
  const auto ram = ram_text(*of.now);
  if (x + static_cast<int>(ram.size() + right.size()) + 2 < on.width())
    x = on.put(x, in.header.y, ram) + 2;
  const auto choice = choice_text(of);
  if (x + static_cast<int>(choice.size() + right.size()) < on.width())
    x = on.put(x, in.header.y, choice, ink::accent);
  if (of.is_paused)
    on.put_right(on.width() - 1, in.header.y, "held", ink::warning);
  else
    on.put_right(on.width(), in.header.y, right, ink::faint);
}

void draw_footer(frame& on, const layout& in, const state& of) {
  const int y = in.footer.y;
  if (of.is_filtering) return put_filter(on, y, of);
  const int x = put_hints(on, 1, y, {{"?", "help"}, {"q", "quit"}});
  if (!of.choice.filter.empty()) {
    on.put(x, y,
           "filter: " + escape_for_text(of.choice.filter, on.with().ascii_only) +
               "  (/ changes it, Esc drops it)",
           ink::warning);
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

}  // namespace hmn::cli::top
