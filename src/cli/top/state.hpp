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

// Signal that waits for its confirmation.
struct PendingSignal {
  SignalChoice which;
  ProcessIdentity to;
  std::string name;  // of the process
};

// Position in a list of which a part is visible.
struct Cursor {
  std::size_t at = 0;
  std::size_t top = 0;  // first visible line

  void move(std::ptrdiff_t by, std::size_t count);
  void keep_in(std::size_t count) { move(0, count); }
  // Scrolls so that it is among the visible lines.
  void show_in(std::size_t visible, std::size_t count);
};

// Position in a text, which the drawing keeps within it.
struct TextPosition {
  std::size_t top = 0;      // first visible line
  std::size_t visible = 1;  // lines, as drawn last
};

// Everything that the screen shows and that keys change.
class State {
 public:
  State();

  // What is known.
  std::shared_ptr<const MachineReading> now;  // NULL: nothing yet
  Histories curves;
  std::chrono::milliseconds interval{1000};
  bool is_simulated = false;
  bool is_read_only = false;        // sends no signals
  std::optional<std::string> user;  // whose processes alone are read
  bool is_paused = false;

  // What is shown of it.
  Page at = Page::main;
  Focus on = Focus::processes;
  ChartChoice charts = ChartChoice::selected;
  Span length = Span::minute;
  ColumnSet columns;
  ListChoice choice;
  bool is_filtering = false;
  ProcessList list;  // of `now`, by `choice`
  Cursor processes, gpus, column_list, signal_list;
  TextPosition text;
  std::size_t command_offset = 0;  // columns of the command line that are scrolled away
  std::optional<ProcessIdentity> selected;
  std::optional<PendingSignal> pending;
  std::string message;  // result of the last action

  void take(std::shared_ptr<const MachineReading> fresh);
  // Makes the list again after a change of `choice`.
  void rebuild();
  void move_process(std::ptrdiff_t by);
  void move_gpu(std::ptrdiff_t by);

  // Returns the selected process; NULL: none, or it is gone.
  const ProcessReading* process() const;
  const GpuReading* gpu() const;
  TimeWindow window() const;

 private:
  void select_at_cursor();
};

inline constexpr int least_width = 60;
inline constexpr int least_height = 16;
// From this width on the line of a GPU has its clocks, fan and PCIe too.
inline constexpr int wide_table = 140;

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

// Shows in a line of titles, after the column `from`, how many rows of a list are above and below
// those that are shown.
void put_hidden(Frame& on, int from, int y, std::size_t first, std::size_t shown,
                std::size_t count);

Layout layout_of(const State& of, Area whole);
// Scrolls lists so that what is chosen is visible.
void fit(State& in, const Layout& to);

}  // namespace hmn::cli::top
