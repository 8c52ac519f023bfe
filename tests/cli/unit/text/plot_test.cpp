// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/text/unicode.hpp"

using namespace hmn::cli;

namespace {

constexpr std::uint64_t ms = 1'000'000;

double lowest(const Curve& of) {
  double low = of.points().front().low;
  for (const auto& each : of.points()) low = std::min(low, each.low);
  return low;
}

double highest(const Curve& of) {
  double high = 0;
  for (const auto& each : of.points()) high = std::max(high, each.high);
  return high;
}

}  // namespace

TEST_CASE("a curve keeps what it is given while there is room") {
  Curve line(8);
  CHECK(line.is_empty());
  line.add(0, 5);
  line.add(100 * ms, 7);
  REQUIRE(line.points().size() == 2);
  CHECK(line.points()[1].at_ns == 100 * ms);
  CHECK(line.points()[1].low == 7);
  CHECK(line.highest() == 7);
  CHECK(line.highest_at_ns() == 100 * ms);
}

TEST_CASE("the highest is when it was seen first") {
  Curve line;
  line.add(1 * ms, 3);
  line.add(2 * ms, 9);
  line.add(3 * ms, 9);
  CHECK(line.highest_at_ns() == 2 * ms);
}

TEST_CASE("a day at ten samples a second stays bounded and loses no extreme") {
  Curve line(600);
  constexpr std::uint64_t samples = 24 * 3600 * 10;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const double value = i == 123'457 ? 900 : i == 654'321 ? 1 : 100;
    line.add(i * 100 * ms, value);
    most = std::max(most, line.points().size());
  }
  CHECK(most <= 601);
  CHECK(line.points().size() > 200);
  CHECK(highest(line) == 900);
  CHECK(lowest(line) == 1);
  CHECK(line.highest_at_ns() == 123'457 * 100 * ms);
  CHECK(line.points().back().at_ns == (samples - 1) * 100 * ms);
  CHECK(std::is_sorted(line.points().begin(), line.points().end(),
                       [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; }));
}

TEST_CASE("a gap is kept until it is narrower than a point") {
  Curve line(600);
  line.add(0, 1);
  line.add_gap();
  line.add(100 * ms, 2);
  line.add(200 * ms, 3);
  REQUIRE(line.points().size() == 3);
  CHECK_FALSE(line.points()[0].after_gap);
  CHECK(line.points()[1].after_gap);
  CHECK_FALSE(line.points()[2].after_gap);
}

namespace {

constexpr std::uint64_t s = 1'000'000'000;
constexpr double plot_gib = 1024.0 * 1024 * 1024;

bool plot_contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t number = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++number;
  return number;
}

Plot plot_of(const Curve& line, std::optional<double> limit = std::nullopt) {
  PlotPanel panel{"GPU 0 [Card]", "of 16 GiB", {{"the command", Ink::first, &line, true}},
                  limit,          "all of it", "nobody told"};
  return {"a title", "a subtitle", 10 * s, {panel}};
}

}  // namespace

TEST_CASE("text of any bytes becomes XML") {
  CHECK(escape_for_xml("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escape_for_xml("a\x1b[2J\n\tb") == "a\xEF\xBF\xBD[2J  b");
  CHECK(escape_for_xml("\xff") == "\xEF\xBF\xBD");
  CHECK(escape_for_xml("\xEF\xBF\xBE") == "\xEF\xBF\xBD");  // U+FFFE is no character of XML
  CHECK(escape_for_xml("größe") == "größe");
}

TEST_CASE("a picture has a title, axes with units, a legend and the peak") {
  Curve line;
  line.add(0, 0);
  line.add(4 * s, 8 * plot_gib);
  line.add(10 * s, 2 * plot_gib);
  const auto svg = svg_of(plot_of(line));
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  for (const char* part :
       {"a title", "a subtitle", "GPU 0 [Card]", "of 16 GiB", ">the command: peak 8.00 GiB at 4 s<",
        "8.00 GiB at 4 s", ">2 GiB<", ">8 s<", "time since the start"})
    CHECK_MESSAGE(plot_contains(svg, part), part);
}

TEST_CASE("what is higher stands higher, and later stands further to the right") {
  Curve line;
  line.add(0, 0);
  line.add(10 * s, 8 * plot_gib);
  const auto svg = svg_of(plot_of(line));
  // From the lower left corner of a panel of 92..932 by 132..302, which ends at 10 GiB: five steps
  // of 2.
  CHECK(plot_contains(svg, "M92.0 302.0L932.0 166.0"));
}

TEST_CASE("axes end at a step of 1, 2 or 5, but for a total") {
  const double mib = plot_gib / 1024;
  const std::pair<double, double> tops[] = {{1.77 * mib, 2 * mib},
                                            {6.39 * mib, 8 * mib},
                                            {90 * mib, 100 * mib},
                                            {900 * mib, 1000 * mib},
                                            {8 * plot_gib, 10 * plot_gib}};
  for (const auto& [highest, top] : tops) {
    Curve line;
    line.add(0, highest);
    CHECK(tops_of(plot_of(line)).front() == doctest::Approx(top));
  }
}

TEST_CASE("a value in steps holds until the next one") {
  Curve line;
  line.add(0, plot_gib);
  line.add(5 * s, 2 * plot_gib);
  auto drawn = plot_of(line);
  CHECK(plot_contains(svg_of(drawn), "M92.0 234.0L512.0 166.0"));
  drawn.panels.front().series.front().is_stepped = true;
  CHECK(plot_contains(svg_of(drawn), "M92.0 234.0H512.0L512.0 166.0"));
}

TEST_CASE("a gap breaks the line, and the area below it") {
  Curve line;
  line.add(0, plot_gib);
  line.add(1 * s, plot_gib);
  line.add_gap();
  line.add(5 * s, plot_gib);
  line.add(6 * s, plot_gib);
  const auto svg = svg_of(plot_of(line));
  CHECK(count(svg, "Z\" fill=\"#0072b2\"") == 1);
  CHECK(count(svg, "ZM") == 1);
}

TEST_CASE("what is not known is told") {
  const Curve nothing;
  Curve line;
  line.add(0, plot_gib);
  auto plot = plot_of(nothing);
  CHECK(plot_contains(svg_of(plot), "not known: nobody told"));
  CHECK_FALSE(plot_contains(svg_of(plot), "circle"));
  plot.panels[0].series.push_back({"whole device", Ink::third, &line, false});
  CHECK(plot_contains(svg_of(plot), "the command: not known"));
  CHECK_FALSE(plot_contains(svg_of(plot), "nobody told"));
}

TEST_CASE("a limit is drawn where it is near") {
  Curve line;
  line.add(1 * s, 8 * plot_gib);
  CHECK(plot_contains(svg_of(plot_of(line, 16 * plot_gib)), "all of it"));
  CHECK_FALSE(plot_contains(svg_of(plot_of(line, 80 * plot_gib)), "all of it"));
}

TEST_CASE("no axis ends above the total of a card") {
  for (const double total : {1.0 * plot_gib, 8 * plot_gib, 25'757'220'864.0, 85'520'809'984.0})
    for (int percent = 1; percent <= 100; ++percent) {
      Curve line;
      line.add(0, total * percent / 100);
      const auto top = tops_of(plot_of(line, total))[0];
      CHECK(top >= line.highest());
      CHECK_MESSAGE(top <= total, percent, " % of ", total);
    }
}

TEST_CASE("no text is over a curve or another text") {
  Curve line;
  line.add(5 * s, 15 * plot_gib);
  auto plot = plot_of(line, 16 * plot_gib);
  plot.panels[0].title = std::string(200, 'W');
  const auto svg = svg_of(plot);
  // Of 840 pixels 73 are the note's; a bold W is some 14 wide.
  const auto begin = svg.find("class=\"panel\"");
  const auto shown = svg.substr(begin, svg.find("</tspan>", begin) - begin);
  CHECK(count(shown, "W") <= 80);
  CHECK(count(shown, "W") >= 40);
  // Texts of the panel are above its area, left of it, or below it.
  const auto number_behind = [&](const char* word, std::size_t from) {
    return std::stod(svg.substr(svg.find(word, from) + std::string_view(word).size()));
  };
  for (auto at = svg.find("<text"); at != std::string::npos; at = svg.find("<text", at + 1)) {
    const auto x = number_behind(" x=\"", at);
    const auto y = number_behind(" y=\"", at);
    CHECK((y < 132 || y > 302 || x <= 92));
  }
}

TEST_CASE("panels of one scale have the same highest value") {
  Curve low, high;
  low.add(0, plot_gib);
  high.add(0, 8 * plot_gib);
  auto plot = plot_of(low);
  plot.panels.push_back(plot_of(high).panels[0]);
  CHECK(tops_of(plot)[0] < tops_of(plot)[1]);
  plot.panels[0].scale = plot.panels[1].scale = "Card memory";
  CHECK(tops_of(plot)[0] == tops_of(plot)[1]);
  CHECK(count(svg_of(plot), ">8 GiB<") == 2);
}

TEST_CASE("load and power have their own units") {
  Curve line;
  line.add(0, 40);
  auto plot = plot_of(line);
  plot.panels[0].unit = PlotUnit::percent;
  CHECK(plot_contains(svg_of(plot), ">100 %<"));
  CHECK(plot_contains(svg_of(plot), "peak 40 % at 0.0 s") == false);
  CHECK(plot_contains(svg_of(plot), "peak 40 % at 0 s"));
  plot.panels[0].unit = PlotUnit::watts;
  CHECK(plot_contains(svg_of(plot), ">40 W<"));
}

TEST_CASE("a hostile title stays text, and a long one is cut") {
  Curve line;
  auto plot = plot_of(line);
  plot.title = "</title><script>alert(1)</script>" + std::string(500, 'x');
  const auto svg = svg_of(plot);
  CHECK_FALSE(plot_contains(svg, "<script"));
  CHECK(plot_contains(svg, "…</text>"));
}

namespace {

constexpr std::uint64_t text_s = 1'000'000'000;

Plot text_plot_of(const Curve& line, PlotUnit unit = PlotUnit::percent) {
  PlotPanel panel;
  panel.title = "GPU 0: load";
  panel.unit = unit;
  panel.why_empty = "not reported";
  panel.series.push_back({"load", Ink::first, &line, true});
  return {"", "", 10 * text_s, {panel}, "not shown: GPU 1"};
}

Style text_plot_style(unsigned width, bool unicode) {
  Style as;
  as.width = width;
  as.unicode = unicode;
  as.ascii_only = !unicode;
  return as;
}

}  // namespace

TEST_CASE("a plot of characters has the values, the time and the peak") {
  Curve line;
  line.add(0, 0);
  line.add(5 * text_s, 100);
  line.add(10 * text_s, 50);
  // A value holds until the next one.
  CHECK(text_of(text_plot_of(line), text_plot_style(40, false)) ==
        "GPU 0: load\n"
        "   100 % |               ||||||||||||||\n"
        "         |               |||||||||||||||\n"
        "       0 |...............|||||||||||||||\n"
        "          load: peak 100 % at 5 s\n"
        "          0                         10 s\n"
        "not shown: GPU 1\n");
}

TEST_CASE("a plot is as wide as its terminal, in Braille where it is known") {
  Curve line;
  for (unsigned i = 0; i <= 100; ++i) line.add(i * text_s / 10, i % 37);
  for (const unsigned width : {40U, 60U, 80U, 120U, 200U})
    for (const bool unicode : {false, true}) {
      const auto text = text_of(text_plot_of(line), text_plot_style(width, unicode));
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        CHECK(display_width(text.substr(at, text.find('\n', at) - at)) <= width);
      CHECK((text.find("\u28ff") != std::string::npos) == unicode);
    }
}

TEST_CASE("a plot without values reports why") {
  const Curve nothing;
  CHECK(text_of(text_plot_of(nothing), text_plot_style(80, true)).find("not known: not reported") !=
        std::string::npos);
}
