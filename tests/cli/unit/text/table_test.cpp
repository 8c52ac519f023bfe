// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/table.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.hpp>

#include <cmath>

#include "cli/text/unicode.hpp"

using namespace hmn::cli;
using Align = hmn::cli::Table::Align;

namespace {

Style make_terminal_style(unsigned width, bool colour = false) {
  Style style;
  style.terminal = true;
  style.unicode = true;
  style.colour = colour;
  style.width = width;
  return style;
}

Table make_table() {
  return Table({{"PID", Align::right}, {"NAME", Align::left, true}, {"VRAM", Align::right}});
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start);
    widest = std::max(widest, display_width(std::string_view(text).substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("an empty table prints only its header") {
  CHECK(make_table().text({}) == "PID  NAME  VRAM\n");
}

TEST_CASE("a column is as wide as its widest cell or its title") {
  Table table({{"PID"}, {"HEADER"}, {"END"}});
  CHECK(table.text({}) == "PID  HEADER  END\n");
  table.add({{"1"}, {"a"}, {"x"}});
  table.add({{"12345"}, {"bc"}, {"y"}});
  CHECK(table.text({}) ==
        "PID    HEADER  END\n"
        "1      a       x\n"
        "12345  bc      y\n");
}

TEST_CASE("numbers are aligned right") {
  auto table = make_table();
  table.add({{"7"}, {"a"}, {"512 MiB"}});
  table.add({{"12345"}, {"python"}, {"8.0 GiB"}});
  CHECK(table.text({}) ==
        "  PID  NAME       VRAM\n"
        "    7  a       512 MiB\n"
        "12345  python  8.0 GiB\n");
}

TEST_CASE("lines have no trailing blanks") {
  Table table({{"A"}, {"LONG TITLE"}});
  table.add({{"x"}, {""}});
  table.add({{"x"}, {"y"}});
  CHECK(table.text({}) == "A  LONG TITLE\nx\nx  y\n");
}

TEST_CASE("wide and combining characters keep the columns aligned") {
  Table table({{"NAME"}, {"X"}});
  table.add({{"模型"}, {"1"}});
  table.add({{"e\u0301"}, {"2"}});
  CHECK(table.text({}) == "NAME  X\n模型  1\ne\u0301     2\n");
}

TEST_CASE("a narrow terminal cuts only the columns that may shrink") {
  auto table = make_table();
  table.add({{"12345"}, {"a-very-long-process-name"}, {"8.0 GiB"}});
  const auto text = table.text(make_terminal_style(30));
  CHECK(widest_line(text) == 30);
  CHECK(text.find("a-very-long-p…") != std::string::npos);
  CHECK(text.find("8.0 GiB") != std::string::npos);
}

TEST_CASE("numbers are never cut, however narrow the terminal") {
  auto table = make_table();
  table.add({{"12345"}, {"name"}, {"8.0 GiB"}});
  CHECK(table.text(make_terminal_style(5)).find("12345 name 8.0 GiB") != std::string::npos);
}

TEST_CASE("colour codes do not count towards the width") {
  Table table({{"NAME"}, {"X"}});
  table.add({{"ab", Tone::bad}, {"1"}});
  CHECK(table.text(make_terminal_style(80, true)) ==
        "\x1b[1mNAME\x1b[0m  \x1b[1mX\x1b[0m\n\x1b[31mab\x1b[0m    1\n");
}

TEST_CASE("a cell uses its shorter alternatives before it is cut") {
  Table table({{"USERS", Align::left, true, 4}});
  table.add({{"alice 12.8, bob 0.3", Tone::plain, {"alice 12.8, +1 0.3", "2 users 13.1"}}});
  CHECK(table.text(make_terminal_style(30)) == "USERS\nalice 12.8, bob 0.3\n");
  CHECK(table.text(make_terminal_style(18)) == "USERS\nalice 12.8, +1 0.3\n");
  CHECK(table.text(make_terminal_style(17)) == "USERS\n2 users 13.1\n");
  CHECK(table.fits(12));
  CHECK_FALSE(table.fits(11));
}

TEST_CASE("a column may cut names in the middle, keeping both ends") {
  Table table({{"NAME", Align::left, true, 9, true}, {"X"}});
  table.add({{"H100 80GB HBM3"}, {"1"}});
  CHECK(table.text(make_terminal_style(12)) == "NAME       X\nH100…HBM3  1\n");
}

TEST_CASE("optional columns without values are removed") {
  Table table({{"A"},
               {"B", Align::left, false, 0, false, true},
               {"C", Align::left, false, 0, false, true}});
  table.add({{"1"}, {""}, {""}});
  table.add({{"2"}, {""}, {"x"}});
  table.remove_empty();
  CHECK(table.text({}) == "A  C\n1\n2  x\n");
}

TEST_CASE("ASCII bars are filled in proportion") {
  CHECK(draw_bar(0, 10, false) == "[----------]");
  CHECK(draw_bar(0.5, 10, false) == "[#####-----]");
  CHECK(draw_bar(1, 10, false) == "[##########]");
}

TEST_CASE("only 0 draws an empty bar, and only 1 a full one") {
  CHECK(draw_bar(0.0001, 10, false) == "[#---------]");
  CHECK(draw_bar(0.9999, 10, false) == "[#########-]");
}

TEST_CASE("block bars have a resolution of one eighth") {
  CHECK(draw_bar(0, 2, true) == "[  ]");
  CHECK(draw_bar(0.0001, 2, true) == "[▏ ]");
  CHECK(draw_bar(0.25, 2, true) == "[▌ ]");
  CHECK(draw_bar(0.5, 2, true) == "[█ ]");
  CHECK(draw_bar(0.9999, 2, true) == "[█▉]");
  CHECK(draw_bar(1, 2, true) == "[██]");
}

TEST_CASE("a value that is not a fraction stays inside the bar") {
  CHECK(draw_bar(-1, 4, false) == "[----]");
  CHECK(draw_bar(7, 4, false) == "[####]");
  CHECK(draw_bar(std::nan(""), 4, false) == "[----]");
}

TEST_CASE("estimates and lower bounds are marked, stale values are not") {
  using hypomnesis::note;
  CHECK(accuracy_mark(note::estimated) == "~");
  CHECK(accuracy_mark(note::lower_bound) == ">=");
  CHECK(accuracy_mark(note::stale).empty());
}
