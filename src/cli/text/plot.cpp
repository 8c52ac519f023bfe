// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "cli/text/axis.hpp"
#include "cli/text/utf8.hpp"
#include "cli/text/width.hpp"

namespace hmn::cli {
namespace {

// Lengths in CSS pixels.
constexpr double page_width = 960;
constexpr double left_margin = 92;
constexpr double right_margin = 28;
constexpr double head_height = 78;
constexpr double panel_head = 34;
constexpr double area_height = 170;
constexpr double panel_gap = 26;
constexpr double foot_height = 56;
constexpr double area_width = page_width - left_margin - right_margin;
constexpr double panel_height = panel_head + area_height + panel_gap;
constexpr double empty_height = 66;
// Average width of the font.
constexpr double character_width = 7.0;
// Average widths of bold text in 18 and 14 pixels.
constexpr double title_character = 0.56;
constexpr double panel_character = 0.72;
constexpr double line_height = 18;

// Okabe and Ito's colours, distinguishable without red or green vision as well.
std::string_view colour_of(ink with) {
  if (with == ink::first) return "#0072b2";
  return with == ink::second ? "#d55e00" : "#6b6b6b";
}

struct scale {
  double x_per_ns = 0;
  double y_per_byte = 0;
  double bottom = 0;

  double x(double at_ns) const { return left_margin + at_ns * x_per_ns; }
  double y(double bytes) const { return bottom - bytes * y_per_byte; }
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

double highest_of(const plot_panel& of) {
  double highest = 0;
  for (const auto& each : of.series)
    if (!each.values->is_empty()) highest = std::max(highest, each.values->highest());
  return highest;
}

bool is_empty(const plot_panel& of) {
  return std::all_of(of.series.begin(), of.series.end(),
                     [](const plot_series& each) { return each.values->is_empty(); });
}

double height_of(const plot_panel& of) {
  return is_empty(of) ? empty_height : panel_height;
}

bool shows_limit(const plot_panel& of) {
  return of.limit && *of.limit <= 2.5 * highest_of(of);
}

// Leaves a margin above the maximum.
double top_of(const plot_panel& of) {
  double highest = highest_of(of);
  if (shows_limit(of)) highest = std::max(highest, *of.limit);
  return highest > 0 ? highest * 1.12 : 1024.0 * 1024;
}

// Draws the minimum and maximum of each point, so that no peak is lost between pixels.
std::string line_path(const curve& values, const scale& in) {
  std::string path;
  double before = 0;
  for (const auto& each : values.points()) {
    const bool begins = path.empty() || each.after_gap;
    const bool falls = !begins && before > each.high;
    const double near = falls ? each.high : each.low;
    const double far = falls ? each.low : each.high;
    const double x = in.x(static_cast<double>(each.at_ns));
    put(path, "{}{:.1f} {:.1f}", begins ? "M" : "L", x, in.y(near));
    if (near != far) put(path, "L{:.1f} {:.1f}", x, in.y(far));
    before = far;
  }
  return path;
}

// Fills the area below, one closed path for each stretch without a gap.
std::string area_path(const curve& values, const scale& in) {
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

void put_grid(std::string& out, const plot_panel& of, const scale& in, std::uint64_t duration_ns) {
  const double top = in.bottom - area_height;
  for (const auto& each : byte_ticks(top_of(of), 5)) {
    const double y = in.y(each.at);
    put(out, "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left_margin, y,
        page_width - right_margin);
    put(out, "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left_margin - 8, y + 4, each.label);
  }
  for (const auto& each : time_ticks(static_cast<double>(duration_ns), 8)) {
    const double x = in.x(each.at);
    put(out, "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x, top, in.bottom);
    put(out, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
        in.bottom + 16, each.label);
  }
  put(out, "<path class=\"axis\" d=\"M{} {:.1f}V{:.1f}H{}\"/>\n", left_margin, top, in.bottom,
      page_width - right_margin);
}

void put_limit(std::string& out, const plot_panel& of, const scale& in) {
  if (!shows_limit(of)) return;
  const double y = in.y(*of.limit);
  put(out, "<path class=\"limit\" d=\"M{} {:.1f}H{}\"/>", left_margin, y,
      page_width - right_margin);
  put(out, "<text class=\"mark\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
      page_width - right_margin - 4, y - 4, escape_for_xml(of.limit_name));
}

// Marks the maximum with a dot and its value, below the dot where the limit's line is above.
void put_peak(std::string& out, const plot_panel& panel, const plot_series& of, const scale& in) {
  const double x = in.x(static_cast<double>(of.values->highest_at_ns()));
  const double y = in.y(of.values->highest());
  const auto text = fmt::format("{} at {}", short_bytes(of.values->highest()),
                                offset_text(of.values->highest_at_ns()));
  const bool is_at_right = x + 8 + length_of(text) > page_width - right_margin;
  const double to_limit = shows_limit(panel) ? y - in.y(*panel.limit) : line_height;
  const double base = to_limit > 0 && to_limit < line_height ? y + 16 : y - 6;
  put(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>", x, y, colour_of(of.with));
  put(out, "<text class=\"mark\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
      is_at_right ? x - 8 : x + 8, base, is_at_right ? "end" : "start", text);
}

// Marks the peak of each series unless it would overlap the previous label.
void put_peaks(std::string& out, const plot_panel& of, const scale& in) {
  double taken = -line_height;
  for (const auto& each : of.series) {
    if (each.values->highest() <= 0) continue;
    const double y = in.y(each.values->highest());
    if (std::abs(y - taken) < line_height) continue;
    put_peak(out, of, each, in);
    taken = y;
  }
}

void put_series(std::string& out, const plot_series& of, const scale& in) {
  if (of.values->is_empty()) return;
  if (of.is_filled)
    put(out, "<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.14\"/>", area_path(*of.values, in),
        colour_of(of.with));
  put(out,
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"/>\n",
      line_path(*of.values, in), colour_of(of.with), of.is_filled ? "2.2" : "1.6");
}

// Places entries leftwards from the right edge, in the order of the series.
void put_legend(std::string& out, const plot_panel& of, double y) {
  double x = page_width - right_margin;
  for (auto each = of.series.rbegin(); each != of.series.rend(); ++each) {
    const auto name = each->values->is_empty() ? each->name + ": not known" : each->name;
    x -= length_of(name);
    put(out, "<text class=\"key\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y, escape_for_xml(name));
    put(out, "<path d=\"M{:.1f} {:.1f}h18\" stroke=\"{}\" stroke-width=\"3\"/>\n", x - 24, y - 4,
        colour_of(each->with));
    x -= 24 + 26;
  }
}

double legend_width(const plot_panel& of) {
  double width = 0;
  for (const auto& each : of.series)
    width += 50 + length_of(each.name) + (each.values->is_empty() ? length_of(": not known") : 0);
  return width;
}

void put_panel(std::string& out, const plot_panel& of, double top, std::uint64_t duration_ns) {
  const double bottom = top + panel_head + area_height;
  const double longest = std::max<double>(1, static_cast<double>(duration_ns));
  const scale in{area_width / longest, area_height / top_of(of), bottom};
  const double space = area_width - legend_width(of) - length_of(of.note) - 10;
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
  put_legend(out, of, top + 18);
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
    ".mark{font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px}\n"
    ".grid{stroke:#e3e3e3;fill:none}\n"
    ".axis{stroke:rgb(136,136,136);fill:none}\n"
    ".limit{stroke:rgb(136,136,136);stroke-dasharray:6 4;fill:none}\n"
    "</style>\n";

}  // namespace

// Replaces control characters, which XML 1.0 cannot represent, by U+FFFD.
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
      append_utf8(out, c < 0x20 || c == 0xFFFE || c == 0xFFFF ? U'\uFFFD' : c);
  }
  return out;
}

std::string svg_of(const plot& of) {
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
  for (const auto& each : of.panels) {
    put_panel(out, each, top, of.duration_ns);
    top += height_of(each);
  }
  put(out,
      "<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">time since the "
      "start</text>\n",
      left_margin + area_width / 2, top + 14);
  return out += "</svg>\n";
}

}  // namespace hmn::cli
