// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/measure/gpu_status.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"
#include "cli/top/frame.hpp"

namespace hmn::cli::top {
namespace {

constexpr int dot_columns = 2;
constexpr int dot_rows = 4;

// Dots of one cell of a braille pattern (U+2800), from the lowest to the highest.
constexpr std::array<std::array<unsigned, dot_rows>, dot_columns> braille_dots{
    {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};

struct BoxLines {
  char32_t horizontal, vertical, corners[4];
};
constexpr BoxLines rounded_lines{U'─', U'│', {U'╭', U'╮', U'╰', U'╯'}};
constexpr BoxLines plain_lines{U'-', U'|', {U'+', U'+', U'+', U'+'}};

// Times of the columns of a curve. They are whole multiples of their length, so that a curve moves
// by whole dots.
class TimeAxis {
 public:
  TimeAxis(const TimeWindow& window, int columns)
      : step_(std::max<std::uint64_t>(1,
                                      span_facts(window.span).ns / static_cast<unsigned>(columns))),
        last_(window.now_ns / step_),
        columns_(columns),
        window_(window) {}

  std::optional<History::Range> find_range(const History& history, int column) const {
    const auto steps_back = static_cast<std::uint64_t>(columns_ - 1 - column);
    if (steps_back > last_) return std::nullopt;
    const auto begin = (last_ - steps_back) * step_;
    return history.find_range(window_.span, begin, begin + step_, window_.hold_ns);
  }

 private:
  std::uint64_t step_;
  std::uint64_t last_;
  int columns_;
  const TimeWindow& window_;
};

// Returns how many of `max_levels` levels a value fills, at least one.
int count_levels(double value, double top, int max_levels) {
  if (!(top > 0)) return 1;
  return std::clamp(static_cast<int>(std::lround(value / top * max_levels)), 1, max_levels);
}

int find_levels(const TimeAxis& axis, const Curve& curve, int column, int max_levels) {
  const auto range = axis.find_range(*curve.history, column);
  return range ? count_levels(static_cast<double>(range->high), curve.top, max_levels) : 0;
}

unsigned braille_pattern(int level, int row, unsigned side, bool is_hanging) {
  unsigned dots = 0;
  for (int i = 0; i < dot_rows; ++i)
    if (level > row * dot_rows + i)
      dots |= braille_dots[side][static_cast<std::size_t>(is_hanging ? dot_rows - 1 - i : i)];
  return dots;
}

char32_t ascii_character(int level, int row) {
  constexpr char32_t characters[] = {U' ', U'.', U':', U'|', U'#'};
  return characters[std::clamp(level - row * dot_rows, 0, dot_rows)];
}

int row_y(const Area& area, const Curve& curve, int row) {
  return curve.is_hanging ? area.y + row : area.y + area.height - 1 - row;
}

CellStyle row_style(const Curve& curve, int row, int rows) {
  return scale_style(curve.scale, rows < 2 ? 0.5 : static_cast<double>(row) / (rows - 1));
}

void draw_column(Frame& frame, const Area& area, const Curve& curve, int x,
                 std::array<int, 2> levels) {
  for (int row = 0; row < area.height; ++row) {
    char32_t character = ascii_character(std::max(levels[0], levels[1]), row);
    if (frame.has_unicode()) {
      const auto dots = braille_pattern(levels[0], row, 0, curve.is_hanging) |
                        braille_pattern(levels[1], row, 1, curve.is_hanging);
      character = dots == 0 ? U' ' : U'\u2800' + dots;
    }
    if (character == U' ') return;
    frame.put(area.x + x, row_y(area, curve, row), character, row_style(curve, row, area.height));
  }
}

}  // namespace

void draw_curve(Frame& frame, Area area, const Curve& curve, const TimeWindow& window) {
  if (curve.history == nullptr || area.width <= 0 || area.height <= 0) return;
  const TimeAxis axis(window, area.width * dot_columns);
  const int max_levels = area.height * dot_rows;
  for (int x = 0; x < area.width; ++x)
    draw_column(frame, area, curve, x,
                {find_levels(axis, curve, 2 * x, max_levels),
                 find_levels(axis, curve, 2 * x + 1, max_levels)});
}

void draw_box(Frame& frame, Area area, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale) {
  const auto& lines = frame.has_unicode() ? rounded_lines : plain_lines;
  const int right = area.x + area.width - 1, bottom = area.y + area.height - 1;
  frame.fill({area.x + 1, area.y, area.width - 2, 1}, lines.horizontal, CellStyle::border);
  frame.fill({area.x + 1, bottom, area.width - 2, 1}, lines.horizontal, CellStyle::border);
  frame.fill({area.x, area.y + 1, 1, area.height - 2}, lines.vertical, CellStyle::border);
  frame.fill({right, area.y + 1, 1, area.height - 2}, lines.vertical, CellStyle::border);
  frame.put(area.x, area.y, lines.corners[0], CellStyle::border);
  frame.put(right, area.y, lines.corners[1], CellStyle::border);
  frame.put(area.x, bottom, lines.corners[2], CellStyle::border);
  frame.put(right, bottom, lines.corners[3], CellStyle::border);
  const auto put_label = [&](int x, int y, std::string_view text, CellStyle style) {
    if (!text.empty()) frame.put(x, y, " " + std::string(text) + " ", style, right - x);
  };
  const auto padded_width = [](std::string_view text) {
    return text.empty() ? 0 : static_cast<int>(display_width(text)) + 2;
  };
  put_label(area.x + 1, area.y, title, CellStyle::title);
  if (padded_width(title) + padded_width(value) < area.width - 2)
    put_label(right - 1 - padded_width(value), area.y, value, CellStyle::strong);
  put_label(area.x + 1, bottom, footer, CellStyle::faint);
  if (padded_width(footer) + padded_width(scale) < area.width - 2)
    put_label(right - 1 - padded_width(scale), bottom, scale, CellStyle::faint);
}

void draw_chart(Frame& frame, Area area, const Chart& chart, const TimeWindow& window) {
  const auto needed_width = display_width(chart.title) + display_width(chart.value) + 6;
  const bool is_narrow = !chart.short_value.empty() && static_cast<int>(needed_width) > area.width;
  draw_box(frame, area, chart.title, is_narrow ? chart.short_value : chart.value,
           span_facts(window.span).name, chart.scale);
  auto inner = area.inside();
  if (chart.second.history == nullptr) return draw_curve(frame, inner, chart.first, window);
  auto upper = inner, lower = inner;
  upper.height = (inner.height + 1) / 2;
  lower.y += upper.height;
  lower.height = inner.height - upper.height;
  draw_curve(frame, upper, chart.first, window);
  draw_curve(frame, lower, chart.second, window);
}

namespace {

constexpr int wide_chart_width = 38;

// Returns the top of the scale of a quantity without a limit: its highest value.
double find_top(const History* first, const History* second, double minimum,
                const TimeWindow& window) {
  double top = minimum;
  for (const auto* history : {first, second})
    if (history != nullptr)
      top = std::max(top, static_cast<double>(history->highest(window).value_or(0)));
  return top;
}

double find_memory_top(const GpuReading& reading, const History& history,
                       const TimeWindow& window) {
  const auto& pool = reading.gpu.memory;
  if (pool && pool->total_bytes) return static_cast<double>(*pool->total_bytes);
  return find_top(&history, nullptr, 1, window);
}

double find_power_top(const GpuReading& reading, const History& history, const TimeWindow& window) {
  const auto limit = reading.values ? reading.values->power_limit_watts : std::nullopt;
  return limit ? *limit : find_top(&history, nullptr, 1, window);
}

// Formats the scale of a curve; empty if it has neither a limit nor values.
std::string format_scale(const History& history, bool has_limit, const TimeWindow& window,
                         const std::string& top) {
  return has_limit || history.highest(window) ? "max " + top : std::string();
}

std::string format_power_value(const GpuReading& reading) {
  if (reading.values && reading.values->power_watts)
    return fmt::format("{:.0f} W", *reading.values->power_watts);
  return format_missing(reading.lacks(HMN_TELEMETRY_HAS_POWER)).text;
}

std::string format_memory_value(const GpuReading& reading) {
  return format_bytes(get_used_bytes(reading.gpu), {}, reading.is_used_unsupported).text;
}

std::string format_load_value(const GpuReading& reading) {
  return format_percent(reading.values ? reading.values->gpu_busy_percent : std::nullopt,
                        ColourScale::load, reading.lacks(HMN_TELEMETRY_HAS_GPU_BUSY))
      .text;
}

std::string format_temperature_value(const GpuReading& reading, bool unicode) {
  if (reading.values && reading.values->temperature_celsius)
    return format_degrees(*reading.values->temperature_celsius, unicode);
  return format_missing(reading.lacks(HMN_TELEMETRY_HAS_TEMPERATURE)).text;
}

Chart make_pcie_chart(const GpuHistory& history, const GpuReading& reading,
                      const TimeWindow& window, bool unicode) {
  const auto top = find_top(&history.received, &history.sent, 1024.0 * 1024.0, window);
  const auto received =
      format_rate(reading.received_rate, reading.lacks(HMN_TELEMETRY_HAS_PCIE_RX)).text;
  const auto sent = format_rate(reading.sent_rate, reading.lacks(HMN_TELEMETRY_HAS_PCIE_TX)).text;
  return {"PCIe",
          (unicode ? "↓" : "rx ") + received + (unicode ? " ↑" : " tx ") + sent,
          format_scale(history.received, false, window, format_short_bytes(top) + "/s"),
          {&history.received, top, ColourScale::memory, false},
          {&history.sent, top, ColourScale::power, true}};
}

// Load above, memory hanging below.
Chart make_overview_chart(const State& state, const GpuReading& reading) {
  const auto* const history = state.histories.find_gpu(reading.gpu.device.index);
  const auto window = state.window();
  Chart chart;
  chart.title = fmt::format("GPU {}", reading.gpu.device.index);
  chart.value = format_load_value(reading) + "  " + format_memory_value(reading);
  chart.short_value = format_load_value(reading);
  chart.scale = "load, memory";
  if (history == nullptr) return chart;
  chart.first = {&history->load, 100, ColourScale::load, false};
  chart.second = {&history->memory, find_memory_top(reading, history->memory, window),
                  ColourScale::memory, true};
  return chart;
}

struct Grid {
  int columns = 1;
  int rows = 1;
};

Grid choose_grid(Area area, int count) {
  const int max_rows = std::max(1, area.height / min_chart_height);
  Grid best;
  best.columns = std::clamp(area.width / min_chart_width, 1, count);
  // Prefer wide charts in several rows to narrow ones in one.
  for (int rows = 1; rows <= std::min(max_rows, 3); ++rows) {
    const int columns = (count + rows - 1) / rows;
    best.rows = rows;
    best.columns = std::min(columns, std::max(1, area.width / min_chart_width));
    if (area.width / columns >= wide_chart_width) break;
  }
  return best;
}

}  // namespace

void draw_charts(Frame& frame, Area area, const std::vector<Chart>& charts,
                 const TimeWindow& window) {
  if (charts.empty() || area.height < min_chart_height) return;
  const auto grid = choose_grid(area, static_cast<int>(charts.size()));
  std::size_t next = 0;
  for (int row = 0; row < grid.rows; ++row) {
    const int top = area.height * row / grid.rows;
    const int bottom = area.height * (row + 1) / grid.rows;
    const auto left = static_cast<int>(charts.size() - next);
    const int columns = std::min(grid.columns, left);
    for (int column = 0; column < columns; ++column) {
      const int begin = area.width * column / columns;
      const int end = area.width * (column + 1) / columns;
      draw_chart(frame, {area.x + begin, area.y + top, end - begin, bottom - top}, charts[next++],
                 window);
    }
  }
}

std::vector<Chart> make_gpu_charts(const State& state, const GpuReading& reading, bool unicode) {
  const auto* const history = state.histories.find_gpu(reading.gpu.device.index);
  if (history == nullptr) return {};
  const auto window = state.window();
  const auto name = fmt::format("GPU {}", reading.gpu.device.index);
  const auto memory = find_memory_top(reading, history->memory, window);
  const auto power = find_power_top(reading, history->power, window);
  const bool has_total = reading.gpu.memory && reading.gpu.memory->total_bytes;
  const bool has_limit = reading.values && reading.values->power_limit_watts;
  return {{name + " load",
           format_load_value(reading),
           "max 100%",
           {&history->load, 100, ColourScale::load},
           {}},
          {"memory",
           format_memory_value(reading),
           format_scale(history->memory, has_total, window, format_short_bytes(memory)),
           {&history->memory, memory, ColourScale::memory},
           {}},
          {"power",
           format_power_value(reading),
           format_scale(history->power, has_limit, window, fmt::format("{:.0f} W", power)),
           {&history->power, power, ColourScale::power},
           {}},
          {"temperature",
           format_temperature_value(reading, unicode),
           "max " + format_degrees(100, unicode),
           {&history->temperature, 100, ColourScale::heat},
           {}},
          make_pcie_chart(*history, reading, window, unicode)};
}

void draw_gpu_charts(Frame& frame, Area area, const State& state) {
  if (area.height <= 0 || !state.machine || state.selected_gpu() == nullptr) return;
  std::vector<Chart> charts;
  if (state.charts == ChartChoice::all) {
    const auto max_charts =
        static_cast<std::size_t>(std::max(1, area.width / min_chart_width) *
                                 std::max(1, std::min(3, area.height / min_chart_height)));
    const auto count = state.machine->gpus.size();
    const auto first =
        count <= max_charts ? 0 : std::min(state.gpu_cursor.position, count - max_charts);
    for (auto i = first; i < count && charts.size() < max_charts; ++i)
      charts.push_back(make_overview_chart(state, state.machine->gpus[i]));
  } else {
    charts = make_gpu_charts(state, *state.selected_gpu(), frame.has_unicode());
    const bool fits_all = area.width >= 100 || area.height >= 2 * min_chart_height;
    charts.resize(std::min<std::size_t>(charts.size(), area.width >= 150 ? 5 : fits_all ? 4 : 2));
  }
  draw_charts(frame, area, charts, state.window());
}

}  // namespace hmn::cli::top
