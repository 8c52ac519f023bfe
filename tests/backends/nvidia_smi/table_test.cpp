// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::nvidia_smi;

namespace {

constexpr std::string_view only_name = "name";
constexpr std::size_t most = 3;

Table parse(std::string_view text) {
  return parse_table(text, gpu_spellings(), only_name, most);
}

}  // namespace

TEST_CASE("columns have names and units") {
  const Table t = parse("index, name, memory.total [MiB]\n0, NVIDIA L40S, 46068\n");
  REQUIRE(t.columns.size() == 3);
  CHECK(t.columns[2].name == "memory.total");
  CHECK(t.columns[2].unit == "MiB");
  CHECK(t.columns[0].unit.empty());
  REQUIRE(t.rows.size() == 1);
  CHECK(t.rows[0][1] == "NVIDIA L40S");
  CHECK(t.find("memory.total") == 2);
  CHECK_FALSE(t.find("memory.used"));
}

TEST_CASE("blank lines, line ends of Windows and a missing last line end") {
  const Table t = parse("\r\nindex, name\r\n\r\n0, a\r\n1, b");
  CHECK(t.rows.size() == 2);
  CHECK(t.rows[1][1] == "b");
  CHECK(t.strays.count() == 0);
}

TEST_CASE("too many commas belong to the name") {
  const Table t = parse("index, name, memory.total [MiB]\n0, A,B, C , 5\n1,x,6\n");
  REQUIRE(t.rows.size() == 2);
  CHECK(t.rows[0][1] == "A,B, C");
  CHECK(t.rows[0][2] == "5");
  CHECK(t.rows[1][1] == "x");
}

TEST_CASE("too many commas without a free column, and too few, are no row") {
  const Table t = parse("index, uuid\n0, a, b\n1\n2, c\n");
  CHECK(t.rows.size() == 1);
  REQUIRE(t.strays.count() == 2);
  CHECK(t.strays.first()[0].view() == "0, a, b");
}

TEST_CASE("text that has no header is no table") {
  for (const char* text :
       {"0, NVIDIA A10, 45, 19676, 23028, 0, 58.98\n", "NVIDIA GB10, [N/A], 580.126.09\n",
        "0, 0, 0\n", "", "\n\n", "No devices were found\n", "<?xml version=\"1.0\" ?>\n",
        "# gpu pid type\n", "index;name\n", "unheard_of, columns\n", "index, name, index\n"}) {
    CAPTURE(text);
    const Table t = parse(text);
    CHECK(t.columns.empty());
    CHECK(t.rows.empty());
  }
}

TEST_CASE("a warning before the header is kept aside") {
  const Table t = parse("WARNING: something\nindex, name\n0, a\n");
  CHECK(t.rows.size() == 1);
  REQUIRE(t.strays.count() == 1);
  CHECK(t.strays.first()[0].view() == "WARNING: something");
}

TEST_CASE("a long line without an end is no table") {
  CHECK(parse(std::string(10 << 20, 'x')).columns.empty());
  CHECK(parse(std::string(10 << 20, ',')).columns.empty());
}

TEST_CASE("more rows than are asked for are told, not kept") {
  CHECK_FALSE(parse("index, uuid\n0, a\n1, b\n2, c\n").is_truncated);
  const Table t = parse("index, uuid\n0, a\n1, b\n2, c\n3, d\n");
  CHECK(t.is_truncated);
  CHECK(t.rows.size() == most);
}

TEST_CASE("of many lines that make no sense the first are kept, all are counted") {
  std::string text = "index, uuid\n";
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const Table t = parse(text);
  CHECK(t.strays.count() == 1000);
  CHECK(t.strays.first().size() == 64);
}
