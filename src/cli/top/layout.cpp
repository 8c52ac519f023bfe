// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/width.hpp"
#include "cli/top/chart.hpp"

namespace hmn::cli::top {
namespace {

constexpr int least_process_lines = 6;
constexpr int most_chart_height = 16;

int gpu_height(const layout& in, int count, int available) {
  const int wanted = 1 + count * (in.has_gpu_details ? 2 : 1);
  return std::min(wanted, std::max(4, available / 3));
}

int chart_height(const state& of, int available) {
  if (of.charts == chart_choice::none || available < least_chart_height + least_process_lines)
    return 0;
  return std::clamp(available * 2 / 5, least_chart_height, most_chart_height);
}

}  // namespace

void put_hidden(frame& on, int from, int y, std::size_t first, std::size_t shown,
                std::size_t count) {
  const auto below = count - std::min(count, first + shown);
  const std::string up = on.has_unicode() ? "↑" : "^", down = on.has_unicode() ? "↓" : "v";
  const auto full = (first > 0 ? fmt::format("{}{} ", up, first) : "") +
                    (below > 0 ? fmt::format("{}{} ", down, below) : "");
  const auto arrows = (first > 0 ? up : "") + (below > 0 ? down : "");
  for (const auto& text : {full, arrows})
    if (from + 1 + static_cast<int>(display_width(text)) <= on.width()) {
      on.put_right(on.width(), y, text, ink::faint);
      return;
    }
}

layout layout_of(const state& of, area whole) {
  layout out;
  const int count = of.now ? std::max(1, static_cast<int>(of.now->gpus.size())) : 1;
  const int body = whole.height - 2;
  out.has_gpu_details = whole.width < wide_table && 1 + 2 * count <= body / 3;
  out.header = {0, 0, whole.width, 1};
  out.gpus = {0, 1, whole.width, gpu_height(out, count, body)};
  const int below = out.gpus.y + out.gpus.height;
  const int available = whole.height - 1 - below;
  out.charts = {0, below, whole.width, chart_height(of, available)};
  out.processes = {0, below + out.charts.height, whole.width, available - out.charts.height};
  out.footer = {0, whole.height - 1, whole.width, 1};
  return out;
}

void fit(state& in, const layout& to) {
  in.processes.show_in(to.process_rows(), in.list.lines.size());
  in.gpus.show_in(to.gpu_rows(), in.now ? in.now->gpus.size() : 0);
}

}  // namespace hmn::cli::top
