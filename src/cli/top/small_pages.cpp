// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/text/escape.hpp"
#include "cli/text/width.hpp"
#include "cli/top/chart.hpp"
#include "cli/top/keys.hpp"
#include "cli/top/page_text.hpp"
#include "cli/top/pages.hpp"

namespace hmn::cli::top {
namespace {

// Returns an area of that size in the middle.
area centred(area in, int width, int height) {
  width = std::min(width, in.width);
  height = std::min(height, in.height);
  return {in.x + (in.width - width) / 2, in.y + (in.height - height) / 2, width, height};
}

area draw_dialog(frame& on, area in, int width, int height, std::string_view title,
                 std::string_view hint) {
  const auto where = centred(in, width, height);
  draw_box(on, where, title, "", hint, "");
  return where.inside();
}

}  // namespace

void draw_help_page(frame& on, area where, state& of) {
  constexpr int keys_width = 29;
  std::vector<entry> all;
  for (const auto& each : all_key_help())
    all.push_back({std::string(each.keys), std::string(each.effect), {}});
  draw_entries(on, where, all, of.text, keys_width);
}

void draw_columns_page(frame& on, area where, const state& of) {
  const auto inner = draw_dialog(on, where, 60, static_cast<int>(column_count) + 2, "columns",
                                 "Space shows or hides, Enter is done");
  for (std::size_t i = 0; i < column_count; ++i) {
    const int y = inner.y + static_cast<int>(i);
    const auto& facts = facts_of(column_at(i));
    on.put(inner.x + 1, y, of.columns.test(i) ? "[x]" : "[ ]", ink::accent);
    on.put(inner.x + 5, y, facts.title, ink::strong);
    on.put(inner.x + 16, y, facts.meaning, ink::plain, inner.width - 16);
    if (i == of.column_list.at) on.select(inner.x, y, inner.width);
  }
}

void draw_signals_page(frame& on, area where, const state& of) {
  const auto all = signal_choices();
  const auto* const row = of.process();
  const auto title =
      row != nullptr ? fmt::format("signal to {}", row->usage.pid) : std::string("signal");
  const auto inner = draw_dialog(on, where, 48, static_cast<int>(all.size()) + 2, title,
                                 "Enter chooses, Esc goes back");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int y = inner.y + static_cast<int>(i);
    on.put_right(inner.x + 3, y, fmt::to_string(all[i].number), ink::faint);
    on.put(inner.x + 5, y, all[i].name, ink::strong);
    on.put(inner.x + 12, y, all[i].effect);
    if (i == of.signal_list.at) on.select(inner.x, y, inner.width);
  }
}

void draw_confirmation(frame& on, area where, const state& of) {
  if (!of.pending) return;
  const auto& to = *of.pending;
  const auto inner =
      draw_dialog(on, where, 56, 5, "send a signal?", "y sends, any other key does not");
  const auto name = escape_for_text(to.name, on.with().ascii_only);
  on.put(inner.x + 1, inner.y + 1,
         cut_to_width(fmt::format("Send {} to process {} ({})?", to.which.name, to.to.pid, name),
                      static_cast<std::size_t>(inner.width - 2), on.has_unicode() ? "…" : "..."),
         ink::warning);
}

}  // namespace hmn::cli::top
