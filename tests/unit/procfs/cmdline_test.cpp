// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

namespace {

std::string command_of(std::string_view cmdline, bool is_cut = false) {
  std::string out;
  append_command(out, cmdline, is_cut);
  return out;
}

}  // namespace

TEST_CASE("the whole name is that of argv[0] where comm is its beginning") {
  using namespace std::string_view_literals;
  CHECK(full_name("process-exporte", "/usr/bin/process-exporter\0-x\0"sv) == "process-exporter");
  CHECK(full_name("process-exporte", "/usr/bin/python3\0"sv) == "process-exporte");
  CHECK(full_name("process-exporte", "") == "process-exporte");
  CHECK(full_name("trainer", "/usr/bin/trainer-of-nets\0"sv) == "trainer");
  CHECK(full_name("process-exporte", "process-exporter --key=k") == "process-exporter");
}

TEST_CASE("arguments with a blank between each, without padding") {
  using namespace std::string_view_literals;
  CHECK(command_of("python3\0-c\0print(1)\0"sv) == "python3 -c print(1)");
  CHECK(command_of("nginx: worker\xFF\0\0\0"sv) == "nginx: worker\xEF\xBF\xBD");
  CHECK(command_of("java\xC3"sv, true) == "java");
  CHECK(command_of("").empty());
}
