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

constexpr int dots_across = 2;
constexpr int dots_down = 4;

// Dots of one cell of a braille pattern (U+2800), from the lowest to the highest.
constexpr std::array<std::array<unsigned, dots_down>, dots_across> braille_dots{
    {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};

struct BoxLines {
  char32_t across, down, corners[4];
};
constexpr BoxLines rounded{U'─', U'│', {U'╭', U'╮', U'╰', U'╯'}};
constexpr BoxLines plain_lines{U'-', U'|', {U'+', U'+', U'+', U'+'}};

// Times of the columns of a curve. They are whole multiples of their length, so that a curve moves
// by whole dots.
class TimeAxis {
 public:
  TimeAxis(const TimeWindow& in, int columns)
      : step_(std::max<std::uint64_t>(1, facts_of(in.of).ns / static_cast<unsigned>(columns))),
        last_(in.now_ns / step_),
        columns_(columns),
        in_(in) {}

  std::optional<History::Range> at(const History& of, int column) const {
    const auto back = static_cast<std::uint64_t>(columns_ - 1 - column);
    if (back > last_) return std::nullopt;
    const auto begin = (last_ - back) * step_;
    return of.between(in_.of, begin, begin + step_, in_.hold_ns);
  }

 private:
  std::uint64_t step_;
  std::uint64_t last_;
  int columns_;
  const TimeWindow& in_;
};

// Returns how many of `most` levels a value fills; a known one has at least one.
int levels_of(double value, double top, int most) {
  if (!(top > 0)) return 1;
  return std::clamp(static_cast<int>(std::lround(value / top * most)), 1, most);
}

int levels_at(const TimeAxis& times, const Curve& what, int column, int most) {
  const auto found = times.at(*what.of, column);
  return found ? levels_of(static_cast<double>(found->high), what.top, most) : 0;
}

unsigned pattern_of(int level, int row, unsigned side, bool is_hanging) {
  unsigned dots = 0;
  for (int i = 0; i < dots_down; ++i)
    if (level > row * dots_down + i)
      dots |= braille_dots[side][static_cast<std::size_t>(is_hanging ? dots_down - 1 - i : i)];
  return dots;
}

char32_t ascii_level(int level, int row) {
  constexpr char32_t partly[] = {U' ', U'.', U':', U'|', U'#'};
  return partly[std::clamp(level - row * dots_down, 0, dots_down)];
}

int row_y(const Area& where, const Curve& what, int row) {
  return what.is_hanging ? where.y + row : where.y + where.height - 1 - row;
}

Ink ink_of_row(const Curve& what, int row, int rows) {
  return ink_of(what.with, rows < 2 ? 0.5 : static_cast<double>(row) / (rows - 1));
}

void draw_column(Frame& on, const Area& where, const Curve& what, int x, std::array<int, 2> level) {
  for (int row = 0; row < where.height; ++row) {
    char32_t shown = ascii_level(std::max(level[0], level[1]), row);
    if (on.has_unicode()) {
      const auto dots = pattern_of(level[0], row, 0, what.is_hanging) |
                        pattern_of(level[1], row, 1, what.is_hanging);
      shown = dots == 0 ? U' ' : U'\u2800' + dots;
    }
    if (shown == U' ') return;
    on.put(where.x + x, row_y(where, what, row), shown, ink_of_row(what, row, where.height));
  }
}

}  // namespace

void draw_curve(Frame& on, Area where, const Curve& what, const TimeWindow& in) {
  if (what.of == nullptr || where.width <= 0 || where.height <= 0) return;
  const TimeAxis times(in, where.width * dots_across);
  const int most = where.height * dots_down;
  for (int x = 0; x < where.width; ++x)
    draw_column(on, where, what, x,
                {levels_at(times, what, 2 * x, most), levels_at(times, what, 2 * x + 1, most)});
}

void draw_box(Frame& on, Area where, std::string_view title, std::string_view value,
              std::string_view footer, std::string_view scale) {
  const auto& lines = on.has_unicode() ? rounded : plain_lines;
  const int right = where.x + where.width - 1, bottom = where.y + where.height - 1;
  on.fill({where.x + 1, where.y, where.width - 2, 1}, lines.across, Ink::border);
  on.fill({where.x + 1, bottom, where.width - 2, 1}, lines.across, Ink::border);
  on.fill({where.x, where.y + 1, 1, where.height - 2}, lines.down, Ink::border);
  on.fill({right, where.y + 1, 1, where.height - 2}, lines.down, Ink::border);
  on.put(where.x, where.y, lines.corners[0], Ink::border);
  on.put(right, where.y, lines.corners[1], Ink::border);
  on.put(where.x, bottom, lines.corners[2], Ink::border);
  on.put(right, bottom, lines.corners[3], Ink::border);
  const auto label = [&](int x, int y, std::string_view text, Ink with) {
    if (!text.empty()) on.put(x, y, " " + std::string(text) + " ", with, right - x);
  };
  const auto width_of_text = [](std::string_view text) {
    return text.empty() ? 0 : static_cast<int>(display_width(text)) + 2;
  };
  label(where.x + 1, where.y, title, Ink::title);
  if (width_of_text(title) + width_of_text(value) < where.width - 2)
    label(right - 1 - width_of_text(value), where.y, value, Ink::strong);
  label(where.x + 1, bottom, footer, Ink::faint);
  if (width_of_text(footer) + width_of_text(scale) < where.width - 2)
    label(right - 1 - width_of_text(scale), bottom, scale, Ink::faint);
}

void draw_chart(Frame& on, Area where, const Chart& what, const TimeWindow& in) {
  const auto needed = display_width(what.title) + display_width(what.value) + 6;
  const bool is_narrow = !what.short_value.empty() && static_cast<int>(needed) > where.width;
  draw_box(on, where, what.title, is_narrow ? what.short_value : what.value, facts_of(in.of).name,
           what.scale);
  auto inner = where.inside();
  if (what.second.of == nullptr) return draw_curve(on, inner, what.first, in);
  auto upper = inner, lower = inner;
  upper.height = (inner.height + 1) / 2;
  lower.y += upper.height;
  lower.height = inner.height - upper.height;
  draw_curve(on, upper, what.first, in);
  draw_curve(on, lower, what.second, in);
}

namespace {

constexpr int wide_chart = 38;

// Lets the scale of a quantity without a limit follow its highest value.
double top_of(const History* first, const History* second, double least, const TimeWindow& in) {
  double found = least;
  for (const auto* each : {first, second})
    if (each != nullptr)
      found = std::max(found, static_cast<double>(each->highest(in).value_or(0)));
  return found;
}

double memory_top(const GpuReading& of, const History& values, const TimeWindow& in) {
  const auto& pool = of.of.memory;
  if (pool && pool->total_bytes) return static_cast<double>(*pool->total_bytes);
  return top_of(&values, nullptr, 1, in);
}

double power_top(const GpuReading& of, const History& values, const TimeWindow& in) {
  const auto limit = of.values ? of.values->power_limit_watts : std::nullopt;
  return limit ? *limit : top_of(&values, nullptr, 1, in);
}

// Returns the scale of a curve that has no limit of its own; none without values.
std::string scale_of(const History& values, bool has_limit, const TimeWindow& in,
                     const std::string& top) {
  return has_limit || values.highest(in) ? "max " + top : std::string();
}

std::string power_value(const GpuReading& of) {
  if (of.values && of.values->power_watts) return fmt::format("{:.0f} W", *of.values->power_watts);
  return missing_text(of.lacks(HMN_TELEMETRY_HAS_POWER)).text;
}

std::string memory_value(const GpuReading& of) {
  return bytes_text(used_bytes_of(of.of), {}, of.has_no_used).text;
}

std::string load_value(const GpuReading& of) {
  return percent_text(of.values ? of.values->gpu_busy_percent : std::nullopt, Ramp::load,
                      of.lacks(HMN_TELEMETRY_HAS_GPU_BUSY))
      .text;
}

std::string celsius_value(const GpuReading& of, bool unicode) {
  if (of.values && of.values->temperature_celsius)
    return degrees_text(*of.values->temperature_celsius, unicode);
  return missing_text(of.lacks(HMN_TELEMETRY_HAS_TEMPERATURE)).text;
}

Chart pcie_chart(const GpuHistory& of, const GpuReading& now, const TimeWindow& in, bool unicode) {
  const auto top = top_of(&of.received, &of.sent, 1024.0 * 1024.0, in);
  const auto received = rate_text(now.received_rate, now.lacks(HMN_TELEMETRY_HAS_PCIE_RX)).text;
  const auto sent = rate_text(now.sent_rate, now.lacks(HMN_TELEMETRY_HAS_PCIE_TX)).text;
  return {"PCIe",
          (unicode ? "↓" : "rx ") + received + (unicode ? " ↑" : " tx ") + sent,
          scale_of(of.received, false, in, short_bytes(top) + "/s"),
          {&of.received, top, Ramp::memory, false},
          {&of.sent, top, Ramp::power, true}};
}

// Load above, memory hanging below.
Chart overview_of(const State& of, const GpuReading& gpu) {
  const auto* const past = of.curves.of_gpu(gpu.of.device.index);
  const auto window = of.window();
  Chart out;
  out.title = fmt::format("GPU {}", gpu.of.device.index);
  out.value = load_value(gpu) + "  " + memory_value(gpu);
  out.short_value = load_value(gpu);
  out.scale = "load, memory";
  if (past == nullptr) return out;
  out.first = {&past->load, 100, Ramp::load, false};
  out.second = {&past->memory, memory_top(gpu, past->memory, window), Ramp::memory, true};
  return out;
}

struct Grid {
  int columns = 1;
  int rows = 1;
};

Grid grid_for(Area where, int count) {
  const int most_rows = std::max(1, where.height / least_chart_height);
  Grid best;
  best.columns = std::clamp(where.width / least_chart_width, 1, count);
  // Prefer wide charts in several rows to narrow ones in one.
  for (int rows = 1; rows <= std::min(most_rows, 3); ++rows) {
    const int columns = (count + rows - 1) / rows;
    best.rows = rows;
    best.columns = std::min(columns, std::max(1, where.width / least_chart_width));
    if (where.width / columns >= wide_chart) break;
  }
  return best;
}

}  // namespace

void draw_charts(Frame& on, Area where, const std::vector<Chart>& all, const TimeWindow& in) {
  if (all.empty() || where.height < least_chart_height) return;
  const auto cells = grid_for(where, static_cast<int>(all.size()));
  std::size_t next = 0;
  for (int row = 0; row < cells.rows; ++row) {
    const int top = where.height * row / cells.rows;
    const int bottom = where.height * (row + 1) / cells.rows;
    const auto left = static_cast<int>(all.size() - next);
    const int columns = std::min(cells.columns, left);
    for (int column = 0; column < columns; ++column) {
      const int begin = where.width * column / columns;
      const int end = where.width * (column + 1) / columns;
      draw_chart(on, {where.x + begin, where.y + top, end - begin, bottom - top}, all[next++], in);
    }
  }
}

std::vector<Chart> charts_of(const State& of, const GpuReading& gpu, bool unicode) {
  const auto* const past = of.curves.of_gpu(gpu.of.device.index);
  if (past == nullptr) return {};
  const auto window = of.window();
  const auto name = fmt::format("GPU {}", gpu.of.device.index);
  const auto memory = memory_top(gpu, past->memory, window);
  const auto power = power_top(gpu, past->power, window);
  const bool has_total = gpu.of.memory && gpu.of.memory->total_bytes;
  const bool has_limit = gpu.values && gpu.values->power_limit_watts;
  return {{name + " load", load_value(gpu), "max 100%", {&past->load, 100, Ramp::load}, {}},
          {"memory",
           memory_value(gpu),
           scale_of(past->memory, has_total, window, short_bytes(memory)),
           {&past->memory, memory, Ramp::memory},
           {}},
          {"power",
           power_value(gpu),
           scale_of(past->power, has_limit, window, fmt::format("{:.0f} W", power)),
           {&past->power, power, Ramp::power},
           {}},
          {"temperature",
           celsius_value(gpu, unicode),
           "max " + degrees_text(100, unicode),
           {&past->temperature, 100, Ramp::heat},
           {}},
          pcie_chart(*past, gpu, window, unicode)};
}

void draw_gpu_charts(Frame& on, Area where, const State& of) {
  if (where.height <= 0 || !of.now || of.gpu() == nullptr) return;
  std::vector<Chart> all;
  if (of.charts == ChartChoice::all) {
    const auto most =
        static_cast<std::size_t>(std::max(1, where.width / least_chart_width) *
                                 std::max(1, std::min(3, where.height / least_chart_height)));
    const auto count = of.now->gpus.size();
    const auto first = count <= most ? 0 : std::min(of.gpus.at, count - most);
    for (auto i = first; i < count && all.size() < most; ++i)
      all.push_back(overview_of(of, of.now->gpus[i]));
  } else {
    all = charts_of(of, *of.gpu(), on.has_unicode());
    const bool fits_all = where.width >= 100 || where.height >= 2 * least_chart_height;
    all.resize(std::min<std::size_t>(all.size(), where.width >= 150 ? 5 : fits_all ? 4 : 2));
  }
  draw_charts(on, where, all, of.window());
}

}  // namespace hmn::cli::top
