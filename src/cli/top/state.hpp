// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cli/system/process.hpp"
#include "cli/top/frame.hpp"
#include "cli/top/history.hpp"
#include "cli/top/process_list.hpp"
#include "cli/top/reader.hpp"

namespace hmn::cli::top {

enum class Page { main, help, gpu, process, columns, signals, confirmation };
enum class Focus { processes, gpus };
enum class ChartChoice { selected, all, none };

// Signal that awaits confirmation.
struct PendingSignal {
  SignalChoice signal;
  ProcessIdentity process;
  std::string name;  // of the process
};

// Position in a list of which a part is visible.
struct Cursor {
  std::size_t position = 0;
  std::size_t top = 0;  // first visible line

  void move(std::ptrdiff_t distance, std::size_t count);
  void clamp(std::size_t count) { move(0, count); }
  // Scrolls so that the position is among the visible lines.
  void scroll_into_view(std::size_t visible, std::size_t count);
};

// Position in a text; drawing clamps it to the text.
struct TextPosition {
  std::size_t top = 0;      // first visible line
  std::size_t visible = 1;  // lines, as drawn last
};

// Everything that the screen shows and that keys change.
class State {
 public:
  State();

  // Readings.
  std::shared_ptr<const MachineReading> machine;  // latest reading; NULL: none yet
  Histories histories;
  std::chrono::milliseconds interval{1000};
  bool is_simulated = false;
  bool is_read_only = false;        // sends no signals
  std::optional<std::string> user;  // whose processes alone are read
  bool is_paused = false;

  // View.
  Page page = Page::main;
  Focus focus = Focus::processes;
  ChartChoice charts = ChartChoice::selected;
  TimeSpan span = TimeSpan::minute;
  ColumnSet columns;
  ListChoice choice;
  bool is_filtering = false;
  ProcessList list;  // of `machine`, by `choice`
  Cursor process_cursor, gpu_cursor, column_cursor, signal_cursor;
  TextPosition text_position;
  std::size_t command_offset = 0;  // columns of the command line that are scrolled away
  std::optional<ProcessIdentity> selected_identity;
  std::optional<PendingSignal> pending_signal;
  std::string message;  // result of the last action

  void update(std::shared_ptr<const MachineReading> reading);
  // Rebuilds the list after a change of `choice`.
  void rebuild_list();
  void move_process(std::ptrdiff_t distance);
  void move_gpu(std::ptrdiff_t distance);

  // Returns the selected process; NULL: none, or it is gone.
  const ProcessReading* selected_process() const;
  const GpuReading* selected_gpu() const;
  TimeWindow window() const;

 private:
  void select_at_cursor();
};

inline constexpr int min_screen_width = 60;
inline constexpr int min_screen_height = 16;
// From this width on, the line of a GPU includes its clocks, fan and PCIe.
inline constexpr int wide_table_width = 140;

// Parts of the main page, from top to bottom. An area without height is not shown.
struct Layout {
  Area header, gpus, charts, processes, footer;
  bool has_gpu_details = false;  // a second line for each GPU

  // Lines for rows, without titles.
  std::size_t gpu_rows() const {
    const auto lines = static_cast<std::size_t>(gpus.height > 0 ? gpus.height - 1 : 0);
    return has_gpu_details ? lines / 2 : lines;
  }
  std::size_t process_rows() const {
    return static_cast<std::size_t>(processes.height > 0 ? processes.height - 1 : 0);
  }
};

// Puts into a line of titles, after the column `start`, how many rows of a list are above and below
// the visible ones.
void put_hidden(Frame& frame, int start, int y, std::size_t first, std::size_t visible,
                std::size_t count);

Layout make_layout(const State& state, Area bounds);
// Scrolls the lists so that their cursors are visible.
void scroll_lists(State& state, const Layout& layout);

}  // namespace hmn::cli::top
