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

void Curve::add(std::uint64_t at_ns, double value) {
  if (points_.empty() || value > highest_) {
    highest_ = value;
    highest_at_ns_ = at_ns;
  }
  lowest_ = points_.empty() ? value : std::min(lowest_, value);
  const bool joins = !points_.empty() && !gap_ && slot_of(points_.back().at_ns) == slot_of(at_ns);
  if (joins) {
    auto& last = points_.back();
    last = {at_ns, std::min(last.low, value), std::max(last.high, value), last.after_gap};
    return;
  }
  points_.push_back({at_ns, value, value, gap_ && !points_.empty()});
  gap_ = false;
  while (points_.size() > capacity_) halve();
}

void Curve::halve() {
  width_ns_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    auto& last = points_[kept];
    const auto& next = points_[i];
    // Omit a gap that is narrower than a point: no value is lost.
    if (slot_of(last.at_ns) == slot_of(next.at_ns))
      last = {next.at_ns, std::min(last.low, next.low), std::max(last.high, next.high),
              last.after_gap};
    else
      points_[++kept] = next;
  }
  points_.resize(kept + 1);
}

namespace {

// Lengths in CSS pixels.
constexpr double page_width = 960;
constexpr double left_margin = 92;
constexpr double right_margin = 28;
constexpr double head_height = 78;
constexpr double panel_head = 54;  // title and keys
constexpr double memory_height = 170;
constexpr double value_height = 90;  // of load and power
constexpr double panel_gap = 26;
constexpr double foot_height = 56;
constexpr double area_width = page_width - left_margin - right_margin;
constexpr double empty_height = 66;
// Average width of the font.
constexpr double character_width = 7.0;
// Average widths of bold text in 18 and 14 pixels.
constexpr double title_character = 0.56;
constexpr double panel_character = 0.72;
constexpr double line_height = 18;

// Okabe and Ito's colours, distinguishable without red or green vision as well.
std::string_view colour_of(Ink with) {
  if (with == Ink::first) return "#0072b2";
  return with == Ink::second ? "#d55e00" : "#6b6b6b";
}

struct Scale {
  double x_per_ns = 0;
  double y_per_unit = 0;
  double top = 0;
  double bottom = 0;
  double highest = 0;  // value at the upper edge

  double x(double at_ns) const { return left_margin + at_ns * x_per_ns; }
  double y(double value) const { return bottom - value * y_per_unit; }
};

template <class... Arguments>
void put(std::string& out, fmt::format_string<Arguments...> form, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), form, std::forward<Arguments>(arguments)...);
}

double length_of(std::string_view text) {
  return character_width * static_cast<double>(display_width(text));
}

std::string fitted(std::string_view text, double length) {
  return cut_to_width(text, static_cast<std::size_t>(std::max(8.0, length / character_width)), "…");
}

double highest_of(const PlotPanel& of) {
  double highest = 0;
  for (const auto& each : of.series)
    if (!each.values->is_empty()) highest = std::max(highest, each.values->highest());
  return highest;
}

double area_height(const PlotPanel& of) {
  return of.unit == PlotUnit::bytes ? memory_height : value_height;
}

double height_of(const PlotPanel& of) {
  return is_empty(of) ? empty_height : panel_head + area_height(of) + panel_gap;
}

bool shows_limit(const PlotPanel& of) {
  return of.limit && *of.limit <= 2.5 * highest_of(of);
}

std::vector<Tick> ticks_of(double top, PlotUnit unit) {
  if (unit == PlotUnit::bytes) return byte_ticks(top, 5);
  return number_ticks(top, 4, unit == PlotUnit::percent ? "%" : "W");
}

// Leaves a margin above the maximum, up to the next tick, but none above a limit.
double top_of(const PlotPanel& of) {
  const double highest = highest_of(of);
  if (of.unit == PlotUnit::percent) return std::max(highest, 100.0);
  if (shows_limit(of)) return std::max(highest, *of.limit);
  const double least = of.unit == PlotUnit::bytes ? 1024.0 * 1024 : 1;
  const double top = std::max(highest * 1.05, least);
  const double step = ticks_of(top, of.unit)[1].at;
  return std::ceil(top / step - 1e-9) * step;
}

// Draws the minimum and maximum of each point, so that no peak is lost between pixels.
std::string line_path(const PlotSeries& of, const Scale& in) {
  std::string path;
  double before = 0;
  for (const auto& each : of.values->points()) {
    const bool begins = path.empty() || each.after_gap;
    const bool falls = !begins && before > each.high;
    const double near = falls ? each.high : each.low;
    const double far = falls ? each.low : each.high;
    const double x = in.x(static_cast<double>(each.at_ns));
    if (of.is_stepped && !begins) put(path, "H{:.1f}", x);
    put(path, "{}{:.1f} {:.1f}", begins ? "M" : "L", x, in.y(near));
    if (near != far) put(path, "L{:.1f} {:.1f}", x, in.y(far));
    before = far;
  }
  return path;
}

// Fills the area below, one closed path for each stretch without a gap.
std::string area_path(const Curve& values, const Scale& in) {
  std::string path;
  double last_x = 0;
  for (const auto& each : values.points()) {
    const double x = in.x(static_cast<double>(each.at_ns));
    if (each.after_gap && !path.empty()) put(path, "L{:.1f} {:.1f}Z", last_x, in.bottom);
    if (path.empty() || each.after_gap) put(path, "M{:.1f} {:.1f}", x, in.bottom);
    put(path, "L{:.1f} {:.1f}", x, in.y(each.high));
    last_x = x;
  }
  if (!path.empty()) put(path, "L{:.1f} {:.1f}Z", last_x, in.bottom);
  return path;
}

void put_grid(std::string& out, const PlotPanel& of, const Scale& in, std::uint64_t duration_ns) {
  for (const auto& each : ticks_of(in.highest, of.unit)) {
    const double y = in.y(each.at);
    put(out, "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left_margin, y,
        page_width - right_margin);
    put(out, "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left_margin - 8, y + 4, each.label);
  }
  for (const auto& each : time_ticks(static_cast<double>(duration_ns), 8)) {
    const double x = in.x(each.at);
    put(out, "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, in.top, in.bottom);
    put(out, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
        in.bottom + 16, each.label);
  }
  put(out, "<path class=\"axis\" d=\"M{} {:.1f}V{:.1f}H{}\"/>\n", left_margin, in.top, in.bottom,
      page_width - right_margin);
}

void put_limit(std::string& out, const PlotPanel& of, const Scale& in) {
  if (!shows_limit(of)) return;
  put(out, "<path class=\"limit\" d=\"M{} {:.1f}H{}\"/>\n", left_margin, in.y(*of.limit),
      page_width - right_margin);
}

// Marks the peak of each series with a dot; the legend has its value.
void put_peaks(std::string& out, const PlotPanel& of, const Scale& in) {
  for (const auto& each : of.series)
    if (!each.values->is_empty() && each.values->highest() > 0)
      put(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
          in.x(static_cast<double>(each.values->highest_at_ns())), in.y(each.values->highest()),
          colour_of(each.with));
}

void put_series(std::string& out, const PlotSeries& of, const Scale& in) {
  if (of.values->is_empty()) return;
  if (of.is_filled)
    put(out, "<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.14\"/>", area_path(*of.values, in),
        colour_of(of.with));
  put(out,
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"/>\n",
      line_path(of, in), colour_of(of.with), of.is_filled ? "2.2" : "1.6");
}

// Places the keys from the left edge on, above the curves: a line's name and its peak.
void put_legend(std::string& out, const PlotPanel& of, double y) {
  double x = left_margin;
  const auto add = [&](std::string_view text, std::string_view line) {
    put(out, "<path d=\"M{:.1f} {:.1f}h18\" {}/>", x, y - 4, line);
    put(out, "<text class=\"key\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 24, y,
        escape_for_xml(text));
    x += 24 + length_of(text) + 26;
  };
  for (const auto& each : of.series)
    add(peak_text(each, of.unit),
        fmt::format("stroke=\"{}\" stroke-width=\"3\"", colour_of(each.with)));
  if (shows_limit(of)) add(of.limit_name, "class=\"limit\"");
}

void put_panel(std::string& out, const PlotPanel& of, double top, double highest,
               std::uint64_t duration_ns) {
  const double bottom = top + panel_head + area_height(of);
  const double longest = std::max<double>(1, static_cast<double>(duration_ns));
  const Scale in{area_width / longest, area_height(of) / highest, bottom - area_height(of), bottom,
                 highest};
  const double space = area_width - length_of(of.note) - 10;
  put(out, "<g>\n<text class=\"panel\" x=\"{}\" y=\"{:.1f}\">{}", left_margin, top + 18,
      escape_for_xml(fitted(of.title, space * panel_character)));
  if (!of.note.empty())
    put(out, "<tspan class=\"note\" dx=\"10\">{}</tspan>", escape_for_xml(of.note));
  out += "</text>\n";
  if (is_empty(of)) {
    put(out, "<text x=\"{}\" y=\"{:.1f}\">not known: {}</text>\n</g>\n", left_margin, top + 40,
        escape_for_xml(fitted(of.why_empty, area_width - 80)));
    return;
  }
  put_legend(out, of, top + 40);
  put_grid(out, of, in, duration_ns);
  put_limit(out, of, in);
  for (auto each = of.series.rbegin(); each != of.series.rend(); ++each) put_series(out, *each, in);
  put_peaks(out, of, in);
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

bool is_empty(const PlotPanel& of) {
  return std::all_of(of.series.begin(), of.series.end(),
                     [](const PlotSeries& each) { return each.values->is_empty(); });
}

std::vector<double> tops_of(const Plot& of) {
  std::map<std::string_view, double> shared;
  for (const auto& each : of.panels) {
    auto& top = shared[each.scale];
    top = std::max(top, top_of(each));
  }
  std::vector<double> tops;
  for (const auto& each : of.panels)
    tops.push_back(each.scale.empty() ? top_of(each) : shared[each.scale]);
  return tops;
}

std::string value_text(double value, PlotUnit unit) {
  if (unit == PlotUnit::bytes) return short_bytes(value);
  return fmt::format("{:.0f} {}", value, unit == PlotUnit::percent ? "%" : "W");
}

std::string peak_text(const PlotSeries& of, PlotUnit unit) {
  if (of.values->is_empty()) return of.name + ": not known";
  return fmt::format("{}: peak {} at {}", of.name, value_text(of.values->highest(), unit),
                     offset_text(of.values->highest_at_ns()));
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
      append_utf8(out, is_acted_on(c) || c == 0xFFFE || c == 0xFFFF ? U'\uFFFD' : c);
  }
  return out;
}

std::string svg_of(const Plot& of) {
  double panels = 0;
  for (const auto& each : of.panels) panels += height_of(each);
  const double height = head_height + panels + foot_height;
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  put(out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
      page_width, height);
  put(out, "<title>{}</title>\n", escape_for_xml(of.title));
  out += style_sheet;
  put(out, "<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", page_width, height);
  put(out, "<text class=\"title\" x=\"{}\" y=\"36\">{}</text>\n", left_margin,
      escape_for_xml(fitted(of.title, area_width * title_character)));
  put(out, "<text class=\"subtitle\" x=\"{}\" y=\"58\">{}</text>\n", left_margin,
      escape_for_xml(fitted(of.subtitle, area_width)));
  double top = head_height;
  const auto tops = tops_of(of);
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    put_panel(out, of.panels[i], top, tops[i], of.duration_ns);
    top += height_of(of.panels[i]);
  }
  put(out,
      "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">time since the "
      "start</text>\n",
      left_margin + area_width / 2, top + 14);
  if (!of.footnote.empty())
    put(out, "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", left_margin, top + 38,
        escape_for_xml(fitted(of.footnote, area_width)));
  return out += "</svg>\n";
}

}  // namespace hmn::cli
