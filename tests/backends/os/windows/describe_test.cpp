// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/describe.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <string>

#include "backends/os/windows/job_limit.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace {

constexpr const char* own_name = "hmn_os_test.exe";
constexpr std::uint32_t absent_pid = 0xFFFFFFF0;

usage described(std::uint32_t pid) {
  os::process_table table;
  usage row;
  row.pid = pid;
  os::describe(table, row);
  return row;
}

}  // namespace

TEST_CASE("describe: the last part of an image's path") {
  CHECK(os::name_of_image("C:\\Program Files\\a\\b.exe") == "b.exe");
  CHECK(os::name_of_image("\\Device\\HarddiskVolume2\\b.exe") == "b.exe");
  CHECK(os::name_of_image("C:/a/b.exe") == "b.exe");
  CHECK(os::name_of_image("b.exe") == "b.exe");
  CHECK(os::name_of_image("C:\\a\\").empty());
  CHECK(os::name_of_image("").empty());
}

TEST_CASE("describe: this process by name, start and resident set") {
  const usage row = described(GetCurrentProcessId());
  CHECK(row.name_state == name_state::resolved);
  CHECK(row.name == own_name);
  CHECK(row.host_resident.value_or(0) > 0);
  REQUIRE(row.start_unix_ns);
  const std::uint64_t now = platform::unix_ns();
  CHECK(*row.start_unix_ns <= now + platform::ns_per_second);
  CHECK(*row.start_unix_ns + 3600 * platform::ns_per_second > now);
  CHECK_FALSE(row.uid);
}

TEST_CASE("describe: what a source already knew stays") {
  os::process_table table;
  usage row;
  row.pid = GetCurrentProcessId();
  row.name_state = name_state::resolved;
  row.name = "given";
  row.host_resident = 7;
  os::describe(table, row);
  CHECK(row.name == "given");
  CHECK(row.host_resident == 7U);
  CHECK(row.start_unix_ns);
}

TEST_CASE("describe: process 4 is the kernel, one that is gone has exited") {
  const usage kernel = described(4);
  CHECK(kernel.name_state == name_state::kernel);
  CHECK(kernel.name.empty());
  const usage gone = described(absent_pid);
  CHECK(gone.name_state == name_state::exited);
  CHECK(gone.name.empty());
  CHECK_FALSE(gone.start_unix_ns);
  CHECK_FALSE(gone.host_resident);
}

TEST_CASE("describe: the command line, as it was given") {
  usage row;
  row.pid = GetCurrentProcessId();
  os::describe_texts(row);
  // Wine 8 does not tell it.
  if (!row.command.empty()) CHECK(row.command.find("hmn_os_test") != std::string::npos);
  usage gone;
  gone.pid = absent_pid;
  os::describe_texts(gone);
  CHECK(gone.command.empty());
}

TEST_CASE("process_table: names in one picture, taken anew for one that is not in it") {
  os::process_table table;
  std::string name;
  CHECK(table.name_of(GetCurrentProcessId(), name) == os::process_table::found::here);
  CHECK(name == own_name);
  name.clear();
  CHECK(table.name_of(absent_pid, name) == os::process_table::found::not_here);
  CHECK(name.empty());
}

TEST_CASE("job_limit: a job without a limit gives none") {
  const os::job_limit before = os::read_job_limit();
  if (before.bytes) return;  // this machine runs its tests in a limited job
  CHECK_FALSE(before.used);
  CHECK_FALSE(before.is_partial);
}
