// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::nvidia_smi;

namespace {

constexpr std::string_view only_name = "name";
constexpr std::size_t max_rows = 3;

Table parse(std::string_view text) {
  return parse_table(text, gpu_spellings(), only_name, max_rows);
}

}  // namespace

TEST_CASE("columns have names and units") {
  const Table table = parse("index, name, memory.total [MiB]\n0, NVIDIA L40S, 46068\n");
  REQUIRE(table.columns.size() == 3);
  CHECK(table.columns[2].name == "memory.total");
  CHECK(table.columns[2].unit == "MiB");
  CHECK(table.columns[0].unit.empty());
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0][1] == "NVIDIA L40S");
  CHECK(table.find("memory.total") == 2);
  CHECK_FALSE(table.find("memory.used"));
}

TEST_CASE("blank lines, Windows line ends and a missing last line end are accepted") {
  const Table table = parse("\r\nindex, name\r\n\r\n0, a\r\n1, b");
  CHECK(table.rows.size() == 2);
  CHECK(table.rows[1][1] == "b");
  CHECK(table.strays.count() == 0);
}

TEST_CASE("surplus commas belong to the name") {
  const Table table = parse("index, name, memory.total [MiB]\n0, A,B, C , 5\n1,x,6\n");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][1] == "A,B, C");
  CHECK(table.rows[0][2] == "5");
  CHECK(table.rows[1][1] == "x");
}

TEST_CASE("surplus commas without a name column, and too few cells, are not a row") {
  const Table table = parse("index, uuid\n0, a, b\n1\n2, c\n");
  CHECK(table.rows.size() == 1);
  REQUIRE(table.strays.count() == 2);
  CHECK(table.strays.first_lines()[0].view() == "0, a, b");
}

TEST_CASE("text without a header is not a table") {
  for (const char* text :
       {"0, NVIDIA A10, 45, 19676, 23028, 0, 58.98\n", "NVIDIA GB10, [N/A], 580.126.09\n",
        "0, 0, 0\n", "", "\n\n", "No devices were found\n", "<?xml version=\"1.0\" ?>\n",
        "# gpu pid type\n", "index;name\n", "unheard_of, columns\n", "index, name, index\n"}) {
    CAPTURE(text);
    const Table table = parse(text);
    CHECK(table.columns.empty());
    CHECK(table.rows.empty());
  }
}

TEST_CASE("a warning before the header is kept apart") {
  const Table table = parse("WARNING: something\nindex, name\n0, a\n");
  CHECK(table.rows.size() == 1);
  REQUIRE(table.strays.count() == 1);
  CHECK(table.strays.first_lines()[0].view() == "WARNING: something");
}

TEST_CASE("a long line without an end is not a table") {
  CHECK(parse(std::string(10 << 20, 'x')).columns.empty());
  CHECK(parse(std::string(10 << 20, ',')).columns.empty());
}

TEST_CASE("rows beyond the limit are dropped, and the table is marked truncated") {
  CHECK_FALSE(parse("index, uuid\n0, a\n1, b\n2, c\n").is_truncated);
  const Table table = parse("index, uuid\n0, a\n1, b\n2, c\n3, d\n");
  CHECK(table.is_truncated);
  CHECK(table.rows.size() == max_rows);
}

TEST_CASE("unparsable lines are all counted, and only the first are kept") {
  std::string text = "index, uuid\n";
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const Table table = parse(text);
  CHECK(table.strays.count() == 1000);
  CHECK(table.strays.first_lines().size() == 64);
}
