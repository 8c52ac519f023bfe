// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

using namespace hmn::procfs;

namespace {

std::string format_command(std::string_view cmdline, bool is_cut = false) {
  std::string out;
  append_command(out, cmdline, is_cut);
  return out;
}

}  // namespace

TEST_CASE("a name that comm cuts is completed from argv[0]") {
  using namespace std::string_view_literals;
  CHECK(find_full_name("process-exporte", "/usr/bin/process-exporter\0-x\0"sv) ==
        "process-exporter");
  CHECK(find_full_name("process-exporte", "/usr/bin/python3\0"sv) == "process-exporte");
  CHECK(find_full_name("process-exporte", "") == "process-exporte");
  CHECK(find_full_name("trainer", "/usr/bin/trainer-of-nets\0"sv) == "trainer");
  CHECK(find_full_name("process-exporte", "process-exporter --key=k") == "process-exporter");
}

TEST_CASE("arguments are joined by spaces, without padding") {
  using namespace std::string_view_literals;
  CHECK(format_command("python3\0-c\0print(1)\0"sv) == "python3 -c print(1)");
  CHECK(format_command("nginx: worker\xFF\0\0\0"sv) == "nginx: worker\xEF\xBF\xBD");
  CHECK(format_command("java\xC3"sv, true) == "java");
  CHECK(format_command("").empty());
}
