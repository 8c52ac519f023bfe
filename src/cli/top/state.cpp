// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/state.hpp"

#include <algorithm>

#include "cli/units.hpp"

namespace hmn::cli::top {

void cursor::move(std::ptrdiff_t by, std::size_t count) {
  const auto last = static_cast<std::ptrdiff_t>(count) - 1;
  at = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at) + by, 0,
                                                           std::max<std::ptrdiff_t>(last, 0)));
}

void cursor::show_in(std::size_t visible, std::size_t count) {
  keep_in(count);
  if (visible == 0) return;
  if (at < top) top = at;
  if (at >= top + visible) top = at - visible + 1;
  top = std::min(top, count > visible ? count - visible : 0);
}

state::state() {
  columns.set();
}

void state::take(std::shared_ptr<const machine_reading> fresh) {
  curves.add(*fresh);
  if (is_paused) return;
  const bool has_new_list = !now || now->processes != fresh->processes;
  now = std::move(fresh);
  gpus.keep_in(now->gpus.size());
  if (has_new_list) rebuild();
}

void state::rebuild() {
  if (!now) return;
  list = make_list(*now->processes, choice, now->is_partial);
  if (selected) {
    const auto found =
        std::find_if(list.lines.begin(), list.lines.end(), [this](const list_line& each) {
          return each.process != nullptr && each.process->identity() == *selected;
        });
    if (found != list.lines.end()) {
      processes.at = static_cast<std::size_t>(found - list.lines.begin());
      return;
    }
    if (at == page::process || at == page::signals || at == page::confirmation) return;
  }
  processes.keep_in(list.lines.size());
  select_at_cursor();
}

void state::select_at_cursor() {
  selected.reset();
  if (processes.at < list.lines.size())
    if (const auto* row = list.lines[processes.at].process) selected = row->identity();
}

void state::move_process(std::ptrdiff_t by) {
  processes.move(by, list.lines.size());
  select_at_cursor();
}

void state::move_gpu(std::ptrdiff_t by) {
  if (!now) return;
  gpus.move(by, now->gpus.size());
  if (!choice.device || !gpu()) return;
  choice.device = gpu()->of.device.index;
  rebuild();
}

const process_reading* state::process() const {
  if (!now || !selected) return nullptr;
  for (const auto& row : *now->processes)
    if (row.identity() == *selected) return &row;
  return nullptr;
}

const gpu_reading* state::gpu() const {
  return now && gpus.at < now->gpus.size() ? &now->gpus[gpus.at] : nullptr;
}

time_window state::window() const {
  // Values of processes come once a second at most, and one that is late is no gap.
  const auto expected = std::max<std::uint64_t>(static_cast<std::uint64_t>(interval.count()), 1000);
  return {length, now ? now->at_ns : 0, expected * ns_per_ms * 5 / 2};
}

}  // namespace hmn::cli::top
