// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/table.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.hpp>

#include <cmath>

#include "cli/text/unicode.hpp"

using namespace hmn::cli;
using Align = hmn::cli::Table::Align;

namespace {

Style table_terminal(unsigned width, bool colour = false) {
  Style as;
  as.terminal = true;
  as.unicode = true;
  as.colour = colour;
  as.width = width;
  return as;
}

Table two_columns() {
  return Table({{"PID", Align::right}, {"NAME", Align::left, true}, {"VRAM", Align::right}});
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    widest = std::max(widest, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("an empty table is its header") {
  CHECK(two_columns().text({}) == "PID  NAME  VRAM\n");
}

TEST_CASE("a column is as wide as its widest cell, or its title") {
  Table out({{"PID"}, {"HEADER"}, {"END"}});
  CHECK(out.text({}) == "PID  HEADER  END\n");
  out.add({{"1"}, {"a"}, {"x"}});
  out.add({{"12345"}, {"bc"}, {"y"}});
  CHECK(out.text({}) ==
        "PID    HEADER  END\n"
        "1      a       x\n"
        "12345  bc      y\n");
}

TEST_CASE("numbers stand to the right") {
  auto out = two_columns();
  out.add({{"7"}, {"a"}, {"512 MiB"}});
  out.add({{"12345"}, {"python"}, {"8.0 GiB"}});
  CHECK(out.text({}) ==
        "  PID  NAME       VRAM\n"
        "    7  a       512 MiB\n"
        "12345  python  8.0 GiB\n");
}

TEST_CASE("no line ends in blanks") {
  Table out({{"A"}, {"LONG TITLE"}});
  out.add({{"x"}, {""}});
  out.add({{"x"}, {"y"}});
  CHECK(out.text({}) == "A  LONG TITLE\nx\nx  y\n");
}

TEST_CASE("wide and combining characters keep the columns in line") {
  Table out({{"NAME"}, {"X"}});
  out.add({{"模型"}, {"1"}});
  out.add({{"e\u0301"}, {"2"}});
  CHECK(out.text({}) == "NAME  X\n模型  1\ne\u0301     2\n");
}

TEST_CASE("a narrow terminal cuts the columns that may shrink") {
  auto out = two_columns();
  out.add({{"12345"}, {"a-very-long-process-name"}, {"8.0 GiB"}});
  const auto text = out.text(table_terminal(30));
  CHECK(widest_line(text) == 30);
  CHECK(text.find("a-very-long-p…") != std::string::npos);
  CHECK(text.find("8.0 GiB") != std::string::npos);
}

TEST_CASE("numbers are never cut, however narrow") {
  auto out = two_columns();
  out.add({{"12345"}, {"name"}, {"8.0 GiB"}});
  CHECK(out.text(table_terminal(5)).find("12345 name 8.0 GiB") != std::string::npos);
}

TEST_CASE("colour codes take no room") {
  Table out({{"NAME"}, {"X"}});
  out.add({{"ab", Tone::bad}, {"1"}});
  CHECK(out.text(table_terminal(80, true)) ==
        "\x1b[1mNAME\x1b[0m  \x1b[1mX\x1b[0m\n\x1b[31mab\x1b[0m    1\n");
}

TEST_CASE("a cell is shortened in its own words, before it is cut") {
  Table out({{"USERS", Align::left, true, 4}});
  out.add({{"alice 12.8, bob 0.3", Tone::plain, {"alice 12.8, +1 0.3", "2 users 13.1"}}});
  CHECK(out.text(table_terminal(30)) == "USERS\nalice 12.8, bob 0.3\n");
  CHECK(out.text(table_terminal(18)) == "USERS\nalice 12.8, +1 0.3\n");
  CHECK(out.text(table_terminal(17)) == "USERS\n2 users 13.1\n");
  CHECK(out.fits(12));
  CHECK_FALSE(out.fits(11));
}

TEST_CASE("names are cut where they are alike") {
  Table out({{"NAME", Align::left, true, 9, true}, {"X"}});
  out.add({{"H100 80GB HBM3"}, {"1"}});
  CHECK(out.text(table_terminal(12)) == "NAME       X\nH100…HBM3  1\n");
}

TEST_CASE("optional columns are left out when nothing is in them") {
  Table out({{"A"},
             {"B", Align::left, false, 0, false, true},
             {"C", Align::left, false, 0, false, true}});
  out.add({{"1"}, {""}, {""}});
  out.add({{"2"}, {""}, {"x"}});
  out.remove_empty();
  CHECK(out.text({}) == "A  C\n1\n2  x\n");
}

TEST_CASE("ASCII bars") {
  CHECK(draw_bar(0, 10, false) == "[----------]");
  CHECK(draw_bar(0.5, 10, false) == "[#####-----]");
  CHECK(draw_bar(1, 10, false) == "[##########]");
}

TEST_CASE("only nothing is empty and only everything is full") {
  CHECK(draw_bar(0.0001, 10, false) == "[#---------]");
  CHECK(draw_bar(0.9999, 10, false) == "[#########-]");
}

TEST_CASE("block bars move by eighths") {
  CHECK(draw_bar(0, 2, true) == "[  ]");
  CHECK(draw_bar(0.0001, 2, true) == "[▏ ]");
  CHECK(draw_bar(0.25, 2, true) == "[▌ ]");
  CHECK(draw_bar(0.5, 2, true) == "[█ ]");
  CHECK(draw_bar(0.9999, 2, true) == "[█▉]");
  CHECK(draw_bar(1, 2, true) == "[██]");
}

TEST_CASE("what is no fraction stays inside the bar") {
  CHECK(draw_bar(-1, 4, false) == "[----]");
  CHECK(draw_bar(7, 4, false) == "[####]");
  CHECK(draw_bar(std::nan(""), 4, false) == "[----]");
}

TEST_CASE("estimates and lower bounds have a mark, stale values have none") {
  using hypomnesis::note;
  CHECK(mark_of(note::estimated) == "~");
  CHECK(mark_of(note::lower_bound) == ">=");
  CHECK(mark_of(note::stale).empty());
}
