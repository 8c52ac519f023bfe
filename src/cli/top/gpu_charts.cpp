// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_charts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/measure/gpu_status.hpp"
#include "cli/text/axis.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

constexpr int wide_chart = 38;

// Lets the scale of a quantity without a limit follow its highest value.
double top_of(const history* first, const history* second, double least, const time_window& in) {
  double found = least;
  for (const auto* each : {first, second})
    if (each != nullptr)
      found = std::max(found, static_cast<double>(each->highest(in).value_or(0)));
  return found;
}

double memory_top(const gpu_reading& of, const history& values, const time_window& in) {
  const auto& pool = of.of.memory;
  if (pool && pool->total_bytes) return static_cast<double>(*pool->total_bytes);
  return top_of(&values, nullptr, 1, in);
}

double power_top(const gpu_reading& of, const history& values, const time_window& in) {
  const auto limit = of.values ? of.values->power_limit_watts : std::nullopt;
  return limit ? *limit : top_of(&values, nullptr, 1, in);
}

// Returns the scale of a curve that has no limit of its own; none without values.
std::string scale_of(const history& values, bool has_limit, const time_window& in,
                     const std::string& top) {
  return has_limit || values.highest(in) ? "max " + top : std::string();
}

std::string power_value(const gpu_reading& of) {
  if (of.values && of.values->power_watts) return fmt::format("{:.0f} W", *of.values->power_watts);
  return missing_text(of.lacks(HMN_TELEMETRY_HAS_POWER)).text;
}

std::string memory_value(const gpu_reading& of) {
  return bytes_text(used_bytes_of(of.of), {}, of.has_no_used).text;
}

std::string load_value(const gpu_reading& of) {
  return percent_text(of.values ? of.values->gpu_busy_percent : std::nullopt, ramp::load,
                      of.lacks(HMN_TELEMETRY_HAS_GPU_BUSY))
      .text;
}

std::string celsius_value(const gpu_reading& of, bool unicode) {
  if (of.values && of.values->temperature_celsius)
    return degrees_text(*of.values->temperature_celsius, unicode);
  return missing_text(of.lacks(HMN_TELEMETRY_HAS_TEMPERATURE)).text;
}

chart pcie_chart(const gpu_history& of, const gpu_reading& now, const time_window& in,
                 bool unicode) {
  const auto top = top_of(&of.received, &of.sent, 1024.0 * 1024.0, in);
  const auto received = rate_text(now.received_rate, now.lacks(HMN_TELEMETRY_HAS_PCIE_RX)).text;
  const auto sent = rate_text(now.sent_rate, now.lacks(HMN_TELEMETRY_HAS_PCIE_TX)).text;
  return {"PCIe",
          (unicode ? "↓" : "rx ") + received + (unicode ? " ↑" : " tx ") + sent,
          scale_of(of.received, false, in, short_bytes(top) + "/s"),
          {&of.received, top, ramp::memory, false},
          {&of.sent, top, ramp::power, true}};
}

// Load above, memory hanging below.
chart overview_of(const state& of, const gpu_reading& gpu) {
  const auto* const past = of.curves.of_gpu(gpu.of.device.index);
  const auto window = of.window();
  chart out;
  out.title = fmt::format("GPU {}", gpu.of.device.index);
  out.value = load_value(gpu) + "  " + memory_value(gpu);
  out.short_value = load_value(gpu);
  out.scale = "load, memory";
  if (past == nullptr) return out;
  out.first = {&past->load, 100, ramp::load, false};
  out.second = {&past->memory, memory_top(gpu, past->memory, window), ramp::memory, true};
  return out;
}

struct grid {
  int columns = 1;
  int rows = 1;
};

grid grid_for(area where, int count) {
  const int most_rows = std::max(1, where.height / least_chart_height);
  grid best;
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

void draw_charts(frame& on, area where, const std::vector<chart>& all, const time_window& in) {
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

std::vector<chart> charts_of(const state& of, const gpu_reading& gpu, bool unicode) {
  const auto* const past = of.curves.of_gpu(gpu.of.device.index);
  if (past == nullptr) return {};
  const auto window = of.window();
  const auto name = fmt::format("GPU {}", gpu.of.device.index);
  const auto memory = memory_top(gpu, past->memory, window);
  const auto power = power_top(gpu, past->power, window);
  const bool has_total = gpu.of.memory && gpu.of.memory->total_bytes;
  const bool has_limit = gpu.values && gpu.values->power_limit_watts;
  return {{name + " load", load_value(gpu), "max 100%", {&past->load, 100, ramp::load}, {}},
          {"memory",
           memory_value(gpu),
           scale_of(past->memory, has_total, window, short_bytes(memory)),
           {&past->memory, memory, ramp::memory},
           {}},
          {"power",
           power_value(gpu),
           scale_of(past->power, has_limit, window, fmt::format("{:.0f} W", power)),
           {&past->power, power, ramp::power},
           {}},
          {"temperature",
           celsius_value(gpu, unicode),
           "max " + degrees_text(100, unicode),
           {&past->temperature, 100, ramp::heat},
           {}},
          pcie_chart(*past, gpu, window, unicode)};
}

void draw_gpu_charts(frame& on, area where, const state& of) {
  if (where.height <= 0 || !of.now || of.gpu() == nullptr) return;
  std::vector<chart> all;
  if (of.charts == chart_choice::all) {
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
