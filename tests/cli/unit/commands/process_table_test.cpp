// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_table.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

using hypomnesis::usage_kind;

ProcessRow sample_row() {
  ProcessRow row;
  row.on = std::make_shared<const Gpu>();
  row.usage.pid = 7;
  return row;
}

std::string line_of(const ProcessRow& row, const char* columns) {
  const auto text = process_table({row}, *parse_columns(columns), {});
  const auto start = text.find('\n') + 1;
  return text.substr(start, text.size() - start - 1);
}

}  // namespace

TEST_CASE("columns are known by name and alias, and not twice") {
  CHECK(parse_columns("pid,used")->size() == 2);
  CHECK(has_column(*parse_columns("used"), "vram"));
  CHECK_FALSE(has_column(*parse_columns("pid"), "device"));
  CHECK_FALSE(parse_columns("pid,pid"));
  CHECK(parse_columns("pids").why().code == ExitCode::usage);
}

TEST_CASE("types are joined; one that has run nothing has none") {
  auto row = sample_row();
  CHECK(line_of(row, "type") == "?");
  row.usage.kinds = usage_kind{};
  CHECK(line_of(row, "type") == "none");
  row.usage.kinds = usage_kind::compute | usage_kind::media;
  CHECK(line_of(row, "type") == "compute+media");
}

TEST_CASE("of an id twelve digits, of a name all") {
  auto row = sample_row();
  row.usage.process_container = "docker:" + std::string(64, 'a');
  CHECK(line_of(row, "container") == "docker:" + std::string(12, 'a'));
  row.usage.process_container = "lxc:a-name-that-is-long";
  CHECK(line_of(row, "container") == "lxc:a-name-that-is-long");
  row.usage.process_container.reset();
  CHECK(line_of(row, "container") == "-");
}

TEST_CASE("what no process uses is a row without a pid") {
  auto row = sample_row();
  row.is_unattributed = true;
  CHECK(line_of(row, "pid,name,type") == "  -  (unattributed)");
  CHECK(process_json({row}, *parse_columns("pid,name")) ==
        "[{\"pid\":null,\"name\":null,\"name_state\":\"unattributed\"}]\n");
}
