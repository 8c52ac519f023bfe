// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/text/unicode.hpp"

using namespace hmn::cli;

namespace {

constexpr std::uint64_t ms = 1'000'000;

double lowest_value(const Curve& curve) {
  double low = curve.points().front().low;
  for (const auto& point : curve.points()) low = std::min(low, point.low);
  return low;
}

double highest_value(const Curve& curve) {
  double high = 0;
  for (const auto& point : curve.points()) high = std::max(high, point.high);
  return high;
}

}  // namespace

TEST_CASE("a curve keeps every value while its capacity lasts") {
  Curve line(8);
  CHECK(line.is_empty());
  line.add(0, 5);
  line.add(100 * ms, 7);
  REQUIRE(line.points().size() == 2);
  CHECK(line.points()[1].time_ns == 100 * ms);
  CHECK(line.points()[1].low == 7);
  CHECK(line.highest() == 7);
  CHECK(line.highest_time_ns() == 100 * ms);
}

TEST_CASE("the time of the highest value is that of its first occurrence") {
  Curve line;
  line.add(1 * ms, 3);
  line.add(2 * ms, 9);
  line.add(3 * ms, 9);
  CHECK(line.highest_time_ns() == 2 * ms);
}

TEST_CASE("a day at ten samples per second stays bounded and keeps its extremes") {
  Curve line(600);
  constexpr std::uint64_t samples = 24 * 3600 * 10;
  std::size_t max_points = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const double value = i == 123'457 ? 900 : i == 654'321 ? 1 : 100;
    line.add(i * 100 * ms, value);
    max_points = std::max(max_points, line.points().size());
  }
  CHECK(max_points <= 601);
  CHECK(line.points().size() > 200);
  CHECK(highest_value(line) == 900);
  CHECK(lowest_value(line) == 1);
  CHECK(line.highest_time_ns() == 123'457 * 100 * ms);
  CHECK(line.points().back().time_ns == (samples - 1) * 100 * ms);
  CHECK(std::is_sorted(line.points().begin(), line.points().end(),
                       [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
}

TEST_CASE("a gap is marked at the first point after it") {
  Curve line(600);
  line.add(0, 1);
  line.add_gap();
  line.add(100 * ms, 2);
  line.add(200 * ms, 3);
  REQUIRE(line.points().size() == 3);
  CHECK_FALSE(line.points()[0].follows_gap);
  CHECK(line.points()[1].follows_gap);
  CHECK_FALSE(line.points()[2].follows_gap);
}

namespace {

constexpr std::uint64_t plot_second = 1'000'000'000;
constexpr double plot_gib = 1024.0 * 1024 * 1024;

bool plot_contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_parts(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t position = 0; (position = text.find(part, position)) != std::string::npos;
       position += part.size())
    ++count;
  return count;
}

Plot make_plot(const Curve& line, std::optional<double> limit = std::nullopt) {
  PlotPanel panel{"GPU 0 [Card]", "of 16 GiB", {{"the command", SeriesColour::first, &line, true}},
                  limit,          "all of it", "nobody told"};
  return {"a title", "a subtitle", 10 * plot_second, {panel}};
}

}  // namespace

TEST_CASE("text of any bytes becomes valid XML") {
  CHECK(escape_for_xml("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escape_for_xml("a\x1b[2J\n\tb") == "a\xEF\xBF\xBD[2J  b");
  CHECK(escape_for_xml("\xff") == "\xEF\xBF\xBD");
  CHECK(escape_for_xml("\xEF\xBF\xBE") == "\xEF\xBF\xBD");  // U+FFFE is no character of XML
  CHECK(escape_for_xml("größe") == "größe");
}

TEST_CASE("a plot has a title, axes with units, a legend and the peak") {
  Curve line;
  line.add(0, 0);
  line.add(4 * plot_second, 8 * plot_gib);
  line.add(10 * plot_second, 2 * plot_gib);
  const auto svg = draw_svg(make_plot(line));
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  for (const char* part :
       {"a title", "a subtitle", "GPU 0 [Card]", "of 16 GiB", ">the command: peak 8.00 GiB at 4 s<",
        "8.00 GiB at 4 s", ">2 GiB<", ">8 s<", "time since the start"})
    CHECK_MESSAGE(plot_contains(svg, part), part);
}

TEST_CASE("higher values are drawn higher and later ones further right") {
  Curve line;
  line.add(0, 0);
  line.add(10 * plot_second, 8 * plot_gib);
  const auto svg = draw_svg(make_plot(line));
  // From the lower left corner of a panel of 92..932 by 132..302, which ends at 10 GiB: five steps
  // of 2.
  CHECK(plot_contains(svg, "M92.0 302.0L932.0 166.0"));
}

TEST_CASE("an axis without a limit ends at a whole step of 1, 2 or 5") {
  const double mib = plot_gib / 1024;
  const std::pair<double, double> tops[] = {{1.77 * mib, 2 * mib},
                                            {6.39 * mib, 8 * mib},
                                            {90 * mib, 100 * mib},
                                            {900 * mib, 1000 * mib},
                                            {8 * plot_gib, 10 * plot_gib}};
  for (const auto& [highest, top] : tops) {
    Curve line;
    line.add(0, highest);
    CHECK(find_panel_tops(make_plot(line)).front() == doctest::Approx(top));
  }
}

TEST_CASE("a stepped value is drawn level until the next one") {
  Curve line;
  line.add(0, plot_gib);
  line.add(5 * plot_second, 2 * plot_gib);
  auto plot = make_plot(line);
  CHECK(plot_contains(draw_svg(plot), "M92.0 234.0L512.0 166.0"));
  plot.panels.front().series.front().is_stepped = true;
  CHECK(plot_contains(draw_svg(plot), "M92.0 234.0H512.0L512.0 166.0"));
}

TEST_CASE("a gap breaks the line and the area below it") {
  Curve line;
  line.add(0, plot_gib);
  line.add(1 * plot_second, plot_gib);
  line.add_gap();
  line.add(5 * plot_second, plot_gib);
  line.add(6 * plot_second, plot_gib);
  const auto svg = draw_svg(make_plot(line));
  CHECK(count_parts(svg, "Z\" fill=\"#0072b2\"") == 1);
  CHECK(count_parts(svg, "ZM") == 1);
}

TEST_CASE("a series without values is reported as not known") {
  const Curve empty;
  Curve line;
  line.add(0, plot_gib);
  auto plot = make_plot(empty);
  CHECK(plot_contains(draw_svg(plot), "not known: nobody told"));
  CHECK_FALSE(plot_contains(draw_svg(plot), "circle"));
  plot.panels[0].series.push_back({"whole device", SeriesColour::third, &line, false});
  CHECK(plot_contains(draw_svg(plot), "the command: not known"));
  CHECK_FALSE(plot_contains(draw_svg(plot), "nobody told"));
}

TEST_CASE("a limit is drawn only if it is near the values") {
  Curve line;
  line.add(1 * plot_second, 8 * plot_gib);
  CHECK(plot_contains(draw_svg(make_plot(line, 16 * plot_gib)), "all of it"));
  CHECK_FALSE(plot_contains(draw_svg(make_plot(line, 80 * plot_gib)), "all of it"));
}

TEST_CASE("no axis ends above the total memory of a card") {
  for (const double total : {1.0 * plot_gib, 8 * plot_gib, 25'757'220'864.0, 85'520'809'984.0})
    for (int percent = 1; percent <= 100; ++percent) {
      Curve line;
      line.add(0, total * percent / 100);
      const auto top = find_panel_tops(make_plot(line, total))[0];
      CHECK(top >= line.highest());
      CHECK_MESSAGE(top <= total, percent, " % of ", total);
    }
}

TEST_CASE("texts overlap neither curves nor other texts") {
  Curve line;
  line.add(5 * plot_second, 15 * plot_gib);
  auto plot = make_plot(line, 16 * plot_gib);
  plot.panels[0].title = std::string(200, 'W');
  const auto svg = draw_svg(plot);
  // The note takes 73 of 840 pixels; a bold W is about 14 wide.
  const auto start = svg.find("class=\"panel\"");
  const auto title = svg.substr(start, svg.find("</tspan>", start) - start);
  CHECK(count_parts(title, "W") <= 80);
  CHECK(count_parts(title, "W") >= 40);
  // Texts of the panel are above its area, left of it, or below it.
  const auto number_after = [&](const char* word, std::size_t offset) {
    return std::stod(svg.substr(svg.find(word, offset) + std::string_view(word).size()));
  };
  for (auto position = svg.find("<text"); position != std::string::npos;
       position = svg.find("<text", position + 1)) {
    const auto x = number_after(" x=\"", position);
    const auto y = number_after(" y=\"", position);
    CHECK((y < 132 || y > 302 || x <= 92));
  }
}

TEST_CASE("panels with the same scale have the same highest value") {
  Curve low, high;
  low.add(0, plot_gib);
  high.add(0, 8 * plot_gib);
  auto plot = make_plot(low);
  plot.panels.push_back(make_plot(high).panels[0]);
  CHECK(find_panel_tops(plot)[0] < find_panel_tops(plot)[1]);
  plot.panels[0].scale = plot.panels[1].scale = "Card memory";
  CHECK(find_panel_tops(plot)[0] == find_panel_tops(plot)[1]);
  CHECK(count_parts(draw_svg(plot), ">8 GiB<") == 2);
}

TEST_CASE("load and power axes have their own units") {
  Curve line;
  line.add(0, 40);
  auto plot = make_plot(line);
  plot.panels[0].unit = PlotUnit::percent;
  CHECK(plot_contains(draw_svg(plot), ">100 %<"));
  CHECK(plot_contains(draw_svg(plot), "peak 40 % at 0.0 s") == false);
  CHECK(plot_contains(draw_svg(plot), "peak 40 % at 0 s"));
  plot.panels[0].unit = PlotUnit::watts;
  CHECK(plot_contains(draw_svg(plot), ">40 W<"));
}

TEST_CASE("a hostile title is escaped, and a long one is cut") {
  Curve line;
  auto plot = make_plot(line);
  plot.title = "</title><script>alert(1)</script>" + std::string(500, 'x');
  const auto svg = draw_svg(plot);
  CHECK_FALSE(plot_contains(svg, "<script"));
  CHECK(plot_contains(svg, "…</text>"));
}

namespace {

constexpr std::uint64_t text_second = 1'000'000'000;

Plot make_text_plot(const Curve& line, PlotUnit unit = PlotUnit::percent) {
  PlotPanel panel;
  panel.title = "GPU 0: load";
  panel.unit = unit;
  panel.empty_reason = "not reported";
  panel.series.push_back({"load", SeriesColour::first, &line, true});
  return {"", "", 10 * text_second, {panel}, "not shown: GPU 1"};
}

Style make_text_style(unsigned width, bool unicode) {
  Style style;
  style.width = width;
  style.unicode = unicode;
  style.ascii_only = !unicode;
  return style;
}

}  // namespace

TEST_CASE("a text plot shows values, time and peak") {
  Curve line;
  line.add(0, 0);
  line.add(5 * text_second, 100);
  line.add(10 * text_second, 50);
  // A value holds until the next one.
  CHECK(draw_text_plot(make_text_plot(line), make_text_style(40, false)) ==
        "GPU 0: load\n"
        "   100 % |               ||||||||||||||\n"
        "         |               |||||||||||||||\n"
        "       0 |...............|||||||||||||||\n"
        "          load: peak 100 % at 5 s\n"
        "          0                         10 s\n"
        "not shown: GPU 1\n");
}

TEST_CASE("a text plot fits its width and uses Braille only with Unicode") {
  Curve line;
  for (unsigned i = 0; i <= 100; ++i) line.add(i * text_second / 10, i % 37);
  for (const unsigned width : {40U, 60U, 80U, 120U, 200U})
    for (const bool unicode : {false, true}) {
      const auto text = draw_text_plot(make_text_plot(line), make_text_style(width, unicode));
      for (std::size_t position = 0; position < text.size();
           position = text.find('\n', position) + 1)
        CHECK(display_width(text.substr(position, text.find('\n', position) - position)) <= width);
      CHECK((text.find("\u28ff") != std::string::npos) == unicode);
    }
}

TEST_CASE("a text plot without values gives the reason") {
  const Curve empty;
  CHECK(draw_text_plot(make_text_plot(empty), make_text_style(80, true))
            .find("not known: not reported") != std::string::npos);
}
