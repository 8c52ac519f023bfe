// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cli/system/process.hpp"
#include "cli/top/column.hpp"
#include "cli/top/histories.hpp"
#include "cli/top/process_list.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

enum class page { main, help, gpu, process, columns, signals, confirmation };
enum class focus { processes, gpus };
enum class chart_choice { selected, all, none };

// Signal that waits for its confirmation.
struct pending_signal {
  signal_choice which;
  process_identity to;
  std::string name;  // of the process
};

// Position in a list of which a part is visible.
struct cursor {
  std::size_t at = 0;
  std::size_t top = 0;  // first visible line

  void move(std::ptrdiff_t by, std::size_t count);
  void keep_in(std::size_t count) { move(0, count); }
  // Scrolls so that it is among the visible lines.
  void show_in(std::size_t visible, std::size_t count);
};

// Position in a text, which the drawing keeps within it.
struct text_position {
  std::size_t top = 0;      // first visible line
  std::size_t visible = 1;  // lines, as drawn last
};

// Everything that the screen shows and that keys change.
class state {
 public:
  state();

  // What is known.
  std::shared_ptr<const machine_reading> now;  // NULL: nothing yet
  histories curves;
  std::chrono::milliseconds interval{1000};
  bool is_simulated = false;
  bool is_paused = false;

  // What is shown of it.
  page at = page::main;
  focus on = focus::processes;
  chart_choice charts = chart_choice::selected;
  span length = span::minute;
  column_set columns;
  list_choice choice;
  bool is_filtering = false;
  process_list list;  // of `now`, by `choice`
  cursor processes, gpus, column_list, signal_list;
  text_position text;
  std::size_t command_offset = 0;  // columns of the command line that are scrolled away
  std::optional<process_identity> selected;
  std::optional<pending_signal> pending;
  std::string message;  // result of the last action

  void take(std::shared_ptr<const machine_reading> fresh);
  // Makes the list again after a change of `choice`.
  void rebuild();
  void move_process(std::ptrdiff_t by);
  void move_gpu(std::ptrdiff_t by);

  // Returns the selected process; NULL: none, or it is gone.
  const process_reading* process() const;
  const gpu_reading* gpu() const;
  time_window window() const;

 private:
  void select_at_cursor();
};

}  // namespace hmn::cli::top
