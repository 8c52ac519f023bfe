// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text/unicode.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/units.hpp"

namespace hmn::cli::top {

void Cursor::move(std::ptrdiff_t distance, std::size_t count) {
  const auto last = static_cast<std::ptrdiff_t>(count) - 1;
  position = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(position) + distance, 0, std::max<std::ptrdiff_t>(last, 0)));
}

void Cursor::scroll_into_view(std::size_t visible, std::size_t count) {
  clamp(count);
  if (visible == 0) return;
  if (position < top) top = position;
  if (position >= top + visible) top = position - visible + 1;
  top = std::min(top, count > visible ? count - visible : 0);
}

State::State() {
  columns.set();
}

void State::update(std::shared_ptr<const MachineReading> reading) {
  histories.add(*reading);
  if (is_paused) return;
  const bool has_new_list = !machine || machine->processes != reading->processes;
  machine = std::move(reading);
  gpu_cursor.clamp(machine->gpus.size());
  if (has_new_list) rebuild_list();
}

void State::rebuild_list() {
  if (!machine) return;
  list = make_list(*machine->processes, choice, machine->is_process_list_partial);
  if (selected_identity) {
    const auto it =
        std::find_if(list.lines.begin(), list.lines.end(), [this](const ListLine& line) {
          return line.process != nullptr && line.process->identity() == *selected_identity;
        });
    if (it != list.lines.end()) {
      process_cursor.position = static_cast<std::size_t>(it - list.lines.begin());
      return;
    }
    if (page == Page::process || page == Page::signals || page == Page::confirmation) return;
  }
  process_cursor.clamp(list.lines.size());
  select_at_cursor();
}

void State::select_at_cursor() {
  selected_identity.reset();
  if (process_cursor.position < list.lines.size())
    if (const auto* row = list.lines[process_cursor.position].process)
      selected_identity = row->identity();
}

void State::move_process(std::ptrdiff_t distance) {
  process_cursor.move(distance, list.lines.size());
  select_at_cursor();
}

void State::move_gpu(std::ptrdiff_t distance) {
  if (!machine) return;
  gpu_cursor.move(distance, machine->gpus.size());
  if (!choice.device || !selected_gpu()) return;
  choice.device = selected_gpu()->gpu.device.index;
  rebuild_list();
}

const ProcessReading* State::selected_process() const {
  if (!machine || !selected_identity) return nullptr;
  for (const auto& row : *machine->processes)
    if (row.identity() == *selected_identity) return &row;
  return nullptr;
}

const GpuReading* State::selected_gpu() const {
  return machine && gpu_cursor.position < machine->gpus.size() ? &machine->gpus[gpu_cursor.position]
                                                               : nullptr;
}

TimeWindow State::window() const {
  // Values of processes come at most once a second, and a late one is not a gap.
  const auto interval_ms =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(interval.count()), 1000);
  return {span, machine ? machine->time_ns : 0, interval_ms * ns_per_ms * 5 / 2};
}

namespace {

constexpr int min_process_lines = 6;
constexpr int max_chart_height = 16;

int choose_gpu_height(const Layout& layout, int count, int available) {
  const int full_height = 1 + count * (layout.has_gpu_details ? 2 : 1);
  return std::min(full_height, std::max(4, available / 3));
}

int choose_chart_height(const State& state, int available) {
  if (state.charts == ChartChoice::none || available < min_chart_height + min_process_lines)
    return 0;
  return std::clamp(available * 2 / 5, min_chart_height, max_chart_height);
}

}  // namespace

void put_hidden(Frame& frame, int start, int y, std::size_t first, std::size_t visible,
                std::size_t count) {
  const auto below = count - std::min(count, first + visible);
  const std::string up = frame.has_unicode() ? "↑" : "^", down = frame.has_unicode() ? "↓" : "v";
  const auto counts = (first > 0 ? fmt::format("{}{} ", up, first) : "") +
                      (below > 0 ? fmt::format("{}{} ", down, below) : "");
  const auto arrows = (first > 0 ? up : "") + (below > 0 ? down : "");
  for (const auto& text : {counts, arrows})
    if (start + 1 + static_cast<int>(display_width(text)) <= frame.width()) {
      frame.put_right(frame.width(), y, text, CellStyle::faint);
      return;
    }
}

Layout make_layout(const State& state, Area bounds) {
  Layout layout;
  const int count = state.machine ? std::max(1, static_cast<int>(state.machine->gpus.size())) : 1;
  const int body = bounds.height - 2;
  layout.has_gpu_details = bounds.width < wide_table_width && 1 + 2 * count <= body / 3;
  layout.header = {0, 0, bounds.width, 1};
  layout.gpus = {0, 1, bounds.width, choose_gpu_height(layout, count, body)};
  const int below = layout.gpus.y + layout.gpus.height;
  const int available = bounds.height - 1 - below;
  layout.charts = {0, below, bounds.width, choose_chart_height(state, available)};
  layout.processes = {0, below + layout.charts.height, bounds.width,
                      available - layout.charts.height};
  layout.footer = {0, bounds.height - 1, bounds.width, 1};
  return layout;
}

void scroll_lists(State& state, const Layout& layout) {
  state.process_cursor.scroll_into_view(layout.process_rows(), state.list.lines.size());
  state.gpu_cursor.scroll_into_view(layout.gpu_rows(),
                                    state.machine ? state.machine->gpus.size() : 0);
}

}  // namespace hmn::cli::top
