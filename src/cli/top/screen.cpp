// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/screen.hpp"

#include <fmt/format.h>

#include "cli/text/escape.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/gpu_table.hpp"
#include "cli/top/layout.hpp"
#include "cli/top/pages.hpp"
#include "cli/top/process_table.hpp"
#include "cli/top/status_lines.hpp"

namespace hmn::cli::top {
namespace {

void draw_too_small(frame& on) {
  on.put(0, 0, "hmn top", ink::title);
  on.put(0, 1, fmt::format("needs {} x {}", least_width, least_height), ink::warning);
  on.put(0, 2, fmt::format("here are {} x {}", on.width(), on.height()));
}

void draw_main(frame& on, const layout& in, const state& of) {
  draw_gpu_table(on, in, of);
  draw_gpu_charts(on, in.charts, of);
  draw_process_table(on, in, of);
}

void draw_page(frame& on, const layout& in, state& of) {
  const area where{0, 1, on.width(), on.height() - 2};
  switch (of.at) {
    case page::main:
      return draw_main(on, in, of);
    case page::help:
      return draw_help_page(on, where, of);
    case page::gpu:
      return draw_gpu_page(on, where, of);
    case page::process:
      return draw_process_page(on, where, of);
    case page::columns:
      return draw_columns_page(on, where, of);
    case page::signals:
      return draw_signals_page(on, where, of);
    case page::confirmation:
      return draw_confirmation(on, where, of);
  }
}

void draw_page_footer(frame& on, const layout& in, const state& of) {
  const int y = in.footer.y;
  if (!of.message.empty() && !of.is_filtering) {
    on.put(1, y, escape_for_text(of.message, on.with().ascii_only), ink::warning);
    return;
  }
  if (of.at == page::main) return draw_footer(on, in, of);
  if (of.at == page::help || of.at == page::columns)
    put_hints(on, 1, y, {{"Esc", "back"}, {"Up Down", "move"}});
  else if (of.at == page::gpu)
    put_hints(on, 1, y,
              {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"[ ]", "other GPU"}});
  else if (of.at == page::process)
    put_hints(on, 1, y, {{"Esc", "back"}, {"Up Down", "scroll"}, {"t T", "time"}, {"x", "signal"}});
}

}  // namespace

frame draw_screen(state& of, int width, int height, glyphs with) {
  frame on(width, height, with);
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

std::size_t page_lines_of(const state& of, int width, int height) {
  if (of.at != page::main) return of.text.visible;
  const auto in = layout_of(of, {0, 0, width, height});
  return of.on == focus::gpus ? in.gpu_rows() : in.process_rows();
}

}  // namespace hmn::cli::top
