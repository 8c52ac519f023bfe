// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/process_table.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

using hypomnesis::usage_kind;

ProcessRow make_sample_row() {
  ProcessRow row;
  row.gpu = std::make_shared<const Gpu>();
  row.usage.pid = 7;
  return row;
}

std::string format_row_line(const ProcessRow& row, const char* columns) {
  const auto text = format_process_table({row}, *parse_columns(columns), {});
  const auto start = text.find('\n') + 1;
  return text.substr(start, text.size() - start - 1);
}

}  // namespace

TEST_CASE("columns are found by name or alias, and a repeated column is refused") {
  CHECK(parse_columns("pid,used")->size() == 2);
  CHECK(has_column(*parse_columns("used"), "vram"));
  CHECK_FALSE(has_column(*parse_columns("pid"), "device"));
  CHECK_FALSE(parse_columns("pid,pid"));
  CHECK(parse_columns("pids").error().code == ExitCode::usage);
}

TEST_CASE("usage kinds are joined by +, and a process that ran nothing has none") {
  auto row = make_sample_row();
  CHECK(format_row_line(row, "type") == "?");
  row.usage.kinds = usage_kind{};
  CHECK(format_row_line(row, "type") == "none");
  row.usage.kinds = usage_kind::compute | usage_kind::media;
  CHECK(format_row_line(row, "type") == "compute+media");
}

TEST_CASE("container ids are cut to twelve digits, container names are not") {
  auto row = make_sample_row();
  row.usage.process_container = "docker:" + std::string(64, 'a');
  CHECK(format_row_line(row, "container") == "docker:" + std::string(12, 'a'));
  row.usage.process_container = "lxc:a-name-that-is-long";
  CHECK(format_row_line(row, "container") == "lxc:a-name-that-is-long");
  row.usage.process_container.reset();
  CHECK(format_row_line(row, "container") == "-");
}

TEST_CASE("unattributed memory is a row without a PID") {
  auto row = make_sample_row();
  row.is_unattributed = true;
  CHECK(format_row_line(row, "pid,name,type") == "  -  (unattributed)");
  CHECK(format_process_json({row}, *parse_columns("pid,name")) ==
        "[{\"pid\":null,\"name\":null,\"name_state\":\"unattributed\"}]\n");
}
