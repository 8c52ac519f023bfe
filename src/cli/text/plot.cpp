// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

#include "cli/text/numbers.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli {

void Curve::add(std::uint64_t time_ns, double value) {
  if (points_.empty() || value > highest_) {
    highest_ = value;
    highest_time_ns_ = time_ns;
  }
  lowest_ = points_.empty() ? value : std::min(lowest_, value);
  const bool is_same_slot =
      !points_.empty() && !has_gap_ && find_slot(points_.back().time_ns) == find_slot(time_ns);
  if (is_same_slot) {
    auto& last = points_.back();
    last = {time_ns, std::min(last.low, value), std::max(last.high, value), last.follows_gap};
    return;
  }
  points_.push_back({time_ns, value, value, has_gap_ && !points_.empty()});
  has_gap_ = false;
  while (points_.size() > capacity_) halve();
}

void Curve::halve() {
  width_ns_ *= 2;
  std::size_t write_index = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    auto& last = points_[write_index];
    const auto& next = points_[i];
    // Omit a gap that is narrower than a point: no value is lost.
    if (find_slot(last.time_ns) == find_slot(next.time_ns))
      last = {next.time_ns, std::min(last.low, next.low), std::max(last.high, next.high),
              last.follows_gap};
    else
      points_[++write_index] = next;
  }
  points_.resize(write_index + 1);
}

namespace {

// Lengths in CSS pixels.
constexpr double page_width = 960;
constexpr double left_margin = 92;
constexpr double right_margin = 28;
constexpr double head_height = 78;
constexpr double panel_head = 54;  // title and legend
constexpr double memory_height = 170;
constexpr double value_height = 90;  // of load and power
constexpr double panel_gap = 26;
constexpr double foot_height = 56;
constexpr double area_width = page_width - left_margin - right_margin;
constexpr double empty_height = 66;
// Average width of the font.
constexpr double character_width = 7.0;
// Ratios of that width to the average width of bold text in 18 and 14 pixels.
constexpr double title_width_ratio = 0.56;
constexpr double panel_title_width_ratio = 0.72;

// Okabe and Ito's colours, distinguishable without red or green vision as well.
std::string_view hex_colour(SeriesColour colour) {
  if (colour == SeriesColour::first) return "#0072b2";
  return colour == SeriesColour::second ? "#d55e00" : "#6b6b6b";
}

struct Scale {
  double x_per_ns = 0;
  double y_per_unit = 0;
  double top = 0;
  double bottom = 0;
  double highest = 0;  // value at the upper edge

  double x(double time_ns) const { return left_margin + time_ns * x_per_ns; }
  double y(double value) const { return bottom - value * y_per_unit; }
};

template <class... Arguments>
void append_format(std::string& out, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

double text_length(std::string_view text) {
  return character_width * static_cast<double>(display_width(text));
}

std::string fit_text(std::string_view text, double length) {
  return cut_to_width(text, static_cast<std::size_t>(std::max(8.0, length / character_width)), "…");
}

double highest_value(const PlotPanel& panel) {
  double highest = 0;
  for (const auto& series : panel.series)
    if (!series.values->is_empty()) highest = std::max(highest, series.values->highest());
  return highest;
}

double area_height(const PlotPanel& panel) {
  return panel.unit == PlotUnit::bytes ? memory_height : value_height;
}

double panel_height(const PlotPanel& panel) {
  return is_empty(panel) ? empty_height : panel_head + area_height(panel) + panel_gap;
}

bool shows_limit(const PlotPanel& panel) {
  return panel.limit && *panel.limit <= 2.5 * highest_value(panel);
}

std::vector<Tick> make_value_ticks(double top, PlotUnit unit) {
  if (unit == PlotUnit::bytes) return make_byte_ticks(top, 5);
  return make_number_ticks(top, 4, unit == PlotUnit::percent ? "%" : "W");
}

// Leaves a margin above the maximum, up to the next tick, but none above a limit.
double find_panel_top(const PlotPanel& panel) {
  const double highest = highest_value(panel);
  if (panel.unit == PlotUnit::percent) return std::max(highest, 100.0);
  if (shows_limit(panel)) return std::max(highest, *panel.limit);
  const double minimum = panel.unit == PlotUnit::bytes ? 1024.0 * 1024 : 1;
  const double top = std::max(highest * 1.05, minimum);
  const double step = make_value_ticks(top, panel.unit)[1].value;
  return std::ceil(top / step - 1e-9) * step;
}

// Draws the minimum and maximum of each point, so that no peak is lost between pixels.
std::string format_line_path(const PlotSeries& series, const Scale& scale) {
  std::string path;
  double previous = 0;
  for (const auto& point : series.values->points()) {
    const bool is_start = path.empty() || point.follows_gap;
    const bool is_falling = !is_start && previous > point.high;
    const double near = is_falling ? point.high : point.low;
    const double far = is_falling ? point.low : point.high;
    const double x = scale.x(static_cast<double>(point.time_ns));
    if (series.is_stepped && !is_start) append_format(path, "H{:.1f}", x);
    append_format(path, "{}{:.1f} {:.1f}", is_start ? "M" : "L", x, scale.y(near));
    if (near != far) append_format(path, "L{:.1f} {:.1f}", x, scale.y(far));
    previous = far;
  }
  return path;
}

// Returns the outline of the area below the curve, one closed path for each stretch without a gap.
std::string format_area_path(const Curve& values, const Scale& scale) {
  std::string path;
  double last_x = 0;
  for (const auto& point : values.points()) {
    const double x = scale.x(static_cast<double>(point.time_ns));
    if (point.follows_gap && !path.empty())
      append_format(path, "L{:.1f} {:.1f}Z", last_x, scale.bottom);
    if (path.empty() || point.follows_gap) append_format(path, "M{:.1f} {:.1f}", x, scale.bottom);
    append_format(path, "L{:.1f} {:.1f}", x, scale.y(point.high));
    last_x = x;
  }
  if (!path.empty()) append_format(path, "L{:.1f} {:.1f}Z", last_x, scale.bottom);
  return path;
}

void append_grid(std::string& out, const PlotPanel& panel, const Scale& scale,
                 std::uint64_t duration_ns) {
  for (const auto& tick : make_value_ticks(scale.highest, panel.unit)) {
    const double y = scale.y(tick.value);
    append_format(out, "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left_margin, y,
                  page_width - right_margin);
    append_format(out, "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                  left_margin - 8, y + 4, tick.label);
  }
  for (const auto& tick : make_time_ticks(static_cast<double>(duration_ns), 8)) {
    const double x = scale.x(tick.value);
    append_format(out, "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, scale.top,
                  scale.bottom);
    append_format(
        out, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
        scale.bottom + 16, tick.label);
  }
  append_format(out, "<path class=\"axis\" d=\"M{} {:.1f}V{:.1f}H{}\"/>\n", left_margin, scale.top,
                scale.bottom, page_width - right_margin);
}

void append_limit(std::string& out, const PlotPanel& panel, const Scale& scale) {
  if (!shows_limit(panel)) return;
  append_format(out, "<path class=\"limit\" d=\"M{} {:.1f}H{}\"/>\n", left_margin,
                scale.y(*panel.limit), page_width - right_margin);
}

// Marks the peak of each series with a dot; the legend has its value.
void append_peaks(std::string& out, const PlotPanel& panel, const Scale& scale) {
  for (const auto& series : panel.series)
    if (!series.values->is_empty() && series.values->highest() > 0)
      append_format(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                    scale.x(static_cast<double>(series.values->highest_time_ns())),
                    scale.y(series.values->highest()), hex_colour(series.colour));
}

void append_series(std::string& out, const PlotSeries& series, const Scale& scale) {
  if (series.values->is_empty()) return;
  if (series.is_filled)
    append_format(out, "<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.14\"/>",
                  format_area_path(*series.values, scale), hex_colour(series.colour));
  append_format(
      out,
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"/>\n",
      format_line_path(series, scale), hex_colour(series.colour), series.is_filled ? "2.2" : "1.6");
}

// Writes the legend above the curves, from the left edge on: each line's name and peak.
void append_legend(std::string& out, const PlotPanel& panel, double y) {
  double x = left_margin;
  const auto add = [&](std::string_view text, std::string_view line) {
    append_format(out, "<path d=\"M{:.1f} {:.1f}h18\" {}/>", x, y - 4, line);
    append_format(out, "<text class=\"key\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 24, y,
                  escape_for_xml(text));
    x += 24 + text_length(text) + 26;
  };
  for (const auto& series : panel.series)
    add(format_peak(series, panel.unit),
        fmt::format("stroke=\"{}\" stroke-width=\"3\"", hex_colour(series.colour)));
  if (shows_limit(panel)) add(panel.limit_name, "class=\"limit\"");
}

void append_panel(std::string& out, const PlotPanel& panel, double top, double highest,
                  std::uint64_t duration_ns) {
  const double bottom = top + panel_head + area_height(panel);
  const double duration = std::max<double>(1, static_cast<double>(duration_ns));
  const Scale scale{area_width / duration, area_height(panel) / highest,
                    bottom - area_height(panel), bottom, highest};
  const double space = area_width - text_length(panel.note) - 10;
  append_format(out, "<g>\n<text class=\"panel\" x=\"{}\" y=\"{:.1f}\">{}", left_margin, top + 18,
                escape_for_xml(fit_text(panel.title, space * panel_title_width_ratio)));
  if (!panel.note.empty())
    append_format(out, "<tspan class=\"note\" dx=\"10\">{}</tspan>", escape_for_xml(panel.note));
  out += "</text>\n";
  if (is_empty(panel)) {
    append_format(out, "<text x=\"{}\" y=\"{:.1f}\">not known: {}</text>\n</g>\n", left_margin,
                  top + 40, escape_for_xml(fit_text(panel.empty_reason, area_width - 80)));
    return;
  }
  append_legend(out, panel, top + 40);
  append_grid(out, panel, scale, duration_ns);
  append_limit(out, panel, scale);
  for (auto it = panel.series.rbegin(); it != panel.series.rend(); ++it)
    append_series(out, *it, scale);
  append_peaks(out, panel, scale);
  out += "</g>\n";
}

constexpr std::string_view style_sheet =
    "<style>\n"
    "text{font-family:system-ui,'Segoe UI','Liberation Sans','DejaVu Sans',Helvetica,sans-serif;"
    "font-size:12.5px;fill:rgb(51,51,51)}\n"
    ".title{font-size:18px;font-weight:600;fill:rgb(17,17,17)}\n"
    ".panel{font-size:14px;font-weight:600;fill:rgb(17,17,17)}\n"
    ".note{font-weight:400;font-size:12.5px;fill:rgb(85,85,85)}\n"
    ".tick,.subtitle{fill:rgb(85,85,85)}\n"
    ".grid{stroke:#e3e3e3;fill:none}\n"
    ".axis{stroke:rgb(136,136,136);fill:none}\n"
    ".limit{stroke:rgb(136,136,136);stroke-dasharray:6 4;fill:none}\n"
    "</style>\n";

}  // namespace

bool is_empty(const PlotPanel& panel) {
  return std::all_of(panel.series.begin(), panel.series.end(),
                     [](const PlotSeries& series) { return series.values->is_empty(); });
}

std::vector<double> find_panel_tops(const Plot& plot) {
  std::map<std::string_view, double> tops_by_scale;
  for (const auto& panel : plot.panels) {
    auto& top = tops_by_scale[panel.scale];
    top = std::max(top, find_panel_top(panel));
  }
  std::vector<double> tops;
  for (const auto& panel : plot.panels)
    tops.push_back(panel.scale.empty() ? find_panel_top(panel) : tops_by_scale[panel.scale]);
  return tops;
}

std::string format_value(double value, PlotUnit unit) {
  if (unit == PlotUnit::bytes) return format_short_bytes(value);
  return fmt::format("{:.0f} {}", value, unit == PlotUnit::percent ? "%" : "W");
}

std::string format_peak(const PlotSeries& series, PlotUnit unit) {
  if (series.values->is_empty()) return series.name + ": not known";
  return fmt::format("{}: peak {} at {}", series.name, format_value(series.values->highest(), unit),
                     format_offset(series.values->highest_time_ns()));
}

// Replaces control characters, most of which XML 1.0 cannot represent, and changes of text
// direction by U+FFFD.
std::string escape_for_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto next = first_code_point(text);
    text.remove_prefix(next.length);
    const char32_t c = next.value;
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '\t' || c == '\n' || c == '\r')
      out += ' ';
    else
      append_utf8(out, needs_escape(c) || c == 0xFFFE || c == 0xFFFF ? U'\uFFFD' : c);
  }
  return out;
}

std::string draw_svg(const Plot& plot) {
  double panels_height = 0;
  for (const auto& panel : plot.panels) panels_height += panel_height(panel);
  const double height = head_height + panels_height + foot_height;
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  append_format(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                "viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
                page_width, height);
  append_format(out, "<title>{}</title>\n", escape_for_xml(plot.title));
  out += style_sheet;
  append_format(out, "<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", page_width, height);
  append_format(out, "<text class=\"title\" x=\"{}\" y=\"36\">{}</text>\n", left_margin,
                escape_for_xml(fit_text(plot.title, area_width * title_width_ratio)));
  append_format(out, "<text class=\"subtitle\" x=\"{}\" y=\"58\">{}</text>\n", left_margin,
                escape_for_xml(fit_text(plot.subtitle, area_width)));
  double top = head_height;
  const auto tops = find_panel_tops(plot);
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    append_panel(out, plot.panels[i], top, tops[i], plot.duration_ns);
    top += panel_height(plot.panels[i]);
  }
  append_format(out,
                "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">time since the "
                "start</text>\n",
                left_margin + area_width / 2, top + 14);
  if (!plot.footnote.empty())
    append_format(out, "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", left_margin,
                  top + 38, escape_for_xml(fit_text(plot.footnote, area_width)));
  return out += "</svg>\n";
}

}  // namespace hmn::cli
