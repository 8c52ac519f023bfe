// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/output.hpp"

namespace hmn::cli {

// Value over time in bounded memory: as time goes on, neighbouring points are merged, keeping the
// minimum and the maximum.
class Curve {
 public:
  struct Point {
    std::uint64_t time_ns = 0;  // time of its last value
    double low = 0;
    double high = 0;
    bool follows_gap = false;  // preceded by unknown values
  };

  explicit Curve(std::size_t capacity = 600) : capacity_(capacity) {}

  // Requires nondecreasing times.
  void add(std::uint64_t time_ns, double value);
  void add_gap() { has_gap_ = true; }

  const std::vector<Point>& points() const { return points_; }
  // highest_time_ns() is the time of the first maximum.
  bool is_empty() const { return points_.empty(); }
  double highest() const { return highest_; }
  double lowest() const { return lowest_; }
  std::uint64_t highest_time_ns() const { return highest_time_ns_; }

 private:
  std::uint64_t find_slot(std::uint64_t time_ns) const { return time_ns / width_ns_; }
  void halve();

  std::size_t capacity_;
  std::uint64_t width_ns_ = 1'000'000;
  std::vector<Point> points_;
  bool has_gap_ = false;
  double highest_ = 0;
  double lowest_ = 0;
  std::uint64_t highest_time_ns_ = 0;
};

enum class SeriesColour { first, second, third };

enum class PlotUnit { bytes, percent, watts };

// Line of a panel.
struct PlotSeries {
  std::string name;
  SeriesColour colour = SeriesColour::first;
  const Curve* values = nullptr;
  bool is_filled = false;
  bool is_stepped = false;  // a value holds until the next
};

// Chart among several with the same time axis.
struct PlotPanel {
  std::string title;
  std::string note;  // next to the title
  std::vector<PlotSeries> series;
  std::optional<double> limit;  // drawn unless far above the values
  std::string limit_name;
  std::string empty_reason;  // shown if no series has a point
  PlotUnit unit = PlotUnit::bytes;
  std::string
      scale{};  // panels of the same scale have the same upper edge; empty: a scale of its own
};

struct Plot {
  std::string title;
  std::string subtitle;
  std::uint64_t duration_ns = 0;
  std::vector<PlotPanel> panels;
  std::string footnote{};  // what is not shown
};

// Returns whether no series of a panel has a point.
bool is_empty(const PlotPanel& panel);
// Returns the value at the upper edge of each panel.
std::vector<double> find_panel_tops(const Plot& plot);
// Formats a value with its unit: "1.5 GiB", "83 %", "287 W".
std::string format_value(double value, PlotUnit unit);
// Returns "the command: peak 8.00 GiB at 4 s".
std::string format_peak(const PlotSeries& series, PlotUnit unit);

// Escapes text for an XML element's content or an attribute's value.
std::string escape_for_xml(std::string_view text);

// Returns a complete SVG 1.1 document.
std::string draw_svg(const Plot& plot);
// Draws a plot with characters, as wide as the terminal.
std::string draw_text_plot(const Plot& plot, const Style& style);

}  // namespace hmn::cli
