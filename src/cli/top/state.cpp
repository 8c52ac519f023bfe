// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/unicode.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

void Cursor::move(std::ptrdiff_t by, std::size_t count) {
  const auto last = static_cast<std::ptrdiff_t>(count) - 1;
  at = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at) + by, 0,
                                                           std::max<std::ptrdiff_t>(last, 0)));
}

void Cursor::show_in(std::size_t visible, std::size_t count) {
  keep_in(count);
  if (visible == 0) return;
  if (at < top) top = at;
  if (at >= top + visible) top = at - visible + 1;
  top = std::min(top, count > visible ? count - visible : 0);
}

State::State() {
  columns.set();
}

void State::take(std::shared_ptr<const MachineReading> fresh) {
  curves.add(*fresh);
  if (is_paused) return;
  const bool has_new_list = !now || now->processes != fresh->processes;
  now = std::move(fresh);
  gpus.keep_in(now->gpus.size());
  if (has_new_list) rebuild();
}

void State::rebuild() {
  if (!now) return;
  list = make_list(*now->processes, choice, now->is_partial);
  if (selected) {
    const auto found =
        std::find_if(list.lines.begin(), list.lines.end(), [this](const ListLine& each) {
          return each.process != nullptr && each.process->identity() == *selected;
        });
    if (found != list.lines.end()) {
      processes.at = static_cast<std::size_t>(found - list.lines.begin());
      return;
    }
    if (at == Page::process || at == Page::signals || at == Page::confirmation) return;
  }
  processes.keep_in(list.lines.size());
  select_at_cursor();
}

void State::select_at_cursor() {
  selected.reset();
  if (processes.at < list.lines.size())
    if (const auto* row = list.lines[processes.at].process) selected = row->identity();
}

void State::move_process(std::ptrdiff_t by) {
  processes.move(by, list.lines.size());
  select_at_cursor();
}

void State::move_gpu(std::ptrdiff_t by) {
  if (!now) return;
  gpus.move(by, now->gpus.size());
  if (!choice.device || !gpu()) return;
  choice.device = gpu()->of.device.index;
  rebuild();
}

const ProcessReading* State::process() const {
  if (!now || !selected) return nullptr;
  for (const auto& row : *now->processes)
    if (row.identity() == *selected) return &row;
  return nullptr;
}

const GpuReading* State::gpu() const {
  return now && gpus.at < now->gpus.size() ? &now->gpus[gpus.at] : nullptr;
}

TimeWindow State::window() const {
  // Values of processes come once a second at most, and one that is late is no gap.
  const auto expected = std::max<std::uint64_t>(static_cast<std::uint64_t>(interval.count()), 1000);
  return {length, now ? now->at_ns : 0, expected * ns_per_ms * 5 / 2};
}

namespace {

constexpr int least_process_lines = 6;
constexpr int most_chart_height = 16;

int gpu_height(const Layout& in, int count, int available) {
  const int wanted = 1 + count * (in.has_gpu_details ? 2 : 1);
  return std::min(wanted, std::max(4, available / 3));
}

int chart_height(const State& of, int available) {
  if (of.charts == ChartChoice::none || available < least_chart_height + least_process_lines)
    return 0;
  return std::clamp(available * 2 / 5, least_chart_height, most_chart_height);
}

}  // namespace

void put_hidden(Frame& on, int from, int y, std::size_t first, std::size_t shown,
                std::size_t count) {
  const auto below = count - std::min(count, first + shown);
  const std::string up = on.has_unicode() ? "↑" : "^", down = on.has_unicode() ? "↓" : "v";
  const auto full = (first > 0 ? fmt::format("{}{} ", up, first) : "") +
                    (below > 0 ? fmt::format("{}{} ", down, below) : "");
  const auto arrows = (first > 0 ? up : "") + (below > 0 ? down : "");
  for (const auto& text : {full, arrows})
    if (from + 1 + static_cast<int>(display_width(text)) <= on.width()) {
      on.put_right(on.width(), y, text, Ink::faint);
      return;
    }
}

Layout layout_of(const State& of, Area whole) {
  Layout out;
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

void fit(State& in, const Layout& to) {
  in.processes.show_in(to.process_rows(), in.list.lines.size());
  in.gpus.show_in(to.gpu_rows(), in.now ? in.now->gpus.size() : 0);
}

}  // namespace hmn::cli::top
