// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/plot.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::cli;

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

plot plot_of(const curve& line, std::optional<double> limit = std::nullopt) {
  plot_panel panel{"GPU 0 [Card]", "of 16 GiB", {{"the command", ink::first, &line, true}},
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
  curve line;
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
  curve line;
  line.add(0, 0);
  line.add(10 * s, 8 * plot_gib);
  const auto svg = svg_of(plot_of(line));
  // From the lower left corner of a panel of 92..932 by 132..302; a margin of 12 % is above.
  CHECK(plot_contains(svg, "M92.0 302.0L932.0 150.2"));
}

TEST_CASE("a gap breaks the line, and the area below it") {
  curve line;
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
  const curve nothing;
  curve line;
  line.add(0, plot_gib);
  auto plot = plot_of(nothing);
  CHECK(plot_contains(svg_of(plot), "not known: nobody told"));
  CHECK_FALSE(plot_contains(svg_of(plot), "circle"));
  plot.panels[0].series.push_back({"whole device", ink::third, &line, false});
  CHECK(plot_contains(svg_of(plot), "the command: not known"));
  CHECK_FALSE(plot_contains(svg_of(plot), "nobody told"));
}

TEST_CASE("a limit is drawn where it is near") {
  curve line;
  line.add(1 * s, 8 * plot_gib);
  CHECK(plot_contains(svg_of(plot_of(line, 16 * plot_gib)), "all of it"));
  CHECK_FALSE(plot_contains(svg_of(plot_of(line, 80 * plot_gib)), "all of it"));
}

TEST_CASE("no axis ends above the total of a card") {
  for (const double total : {1.0 * plot_gib, 8 * plot_gib, 25'757'220'864.0, 85'520'809'984.0})
    for (int percent = 1; percent <= 100; ++percent) {
      curve line;
      line.add(0, total * percent / 100);
      const auto top = tops_of(plot_of(line, total))[0];
      CHECK(top >= line.highest());
      CHECK_MESSAGE(top <= total, percent, " % of ", total);
    }
}

TEST_CASE("no text is over a curve or another text") {
  curve line;
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
  curve low, high;
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
  curve line;
  line.add(0, 40);
  auto plot = plot_of(line);
  plot.panels[0].unit = plot_unit::percent;
  CHECK(plot_contains(svg_of(plot), ">100 %<"));
  CHECK(plot_contains(svg_of(plot), "peak 40 % at 0.0 s") == false);
  CHECK(plot_contains(svg_of(plot), "peak 40 % at 0 s"));
  plot.panels[0].unit = plot_unit::watts;
  CHECK(plot_contains(svg_of(plot), ">40 W<"));
}

TEST_CASE("a hostile title stays text, and a long one is cut") {
  curve line;
  auto plot = plot_of(line);
  plot.title = "</title><script>alert(1)</script>" + std::string(500, 'x');
  const auto svg = svg_of(plot);
  CHECK_FALSE(plot_contains(svg, "<script"));
  CHECK(plot_contains(svg, "…</text>"));
}
