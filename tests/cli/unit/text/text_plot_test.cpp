// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/text_plot.hpp"

#include <doctest/doctest.h>

#include "cli/text/width.hpp"

using namespace hmn::cli;

namespace {

constexpr std::uint64_t text_s = 1'000'000'000;

plot text_plot_of(const curve& line, plot_unit unit = plot_unit::percent) {
  plot_panel panel;
  panel.title = "GPU 0: load";
  panel.unit = unit;
  panel.why_empty = "not reported";
  panel.series.push_back({"load", ink::first, &line, true});
  return {"", "", 10 * text_s, {panel}, "not shown: GPU 1"};
}

style text_plot_style(unsigned width, bool unicode) {
  style as;
  as.width = width;
  as.unicode = unicode;
  as.ascii_only = !unicode;
  return as;
}

}  // namespace

TEST_CASE("a plot of characters has the values, the time and the peak") {
  curve line;
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
  curve line;
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
  const curve nothing;
  CHECK(text_of(text_plot_of(nothing), text_plot_style(80, true)).find("not known: not reported") !=
        std::string::npos);
}
