// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/clock.hpp"

namespace test {

std::set<int> open_descriptors() {
  std::set<int> descriptors;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    descriptors.insert(std::stoi(entry.path().filename().string()));
  }
  std::erase_if(descriptors, [](int number) { return fcntl(number, F_GETFD) < 0; });
  return descriptors;
}

int find_descriptor(const std::string& path) {
  std::error_code ignored;
  for (const int number : open_descriptors()) {
    const std::string link = "/proc/self/fd/" + std::to_string(number);
    if (std::filesystem::read_symlink(link, ignored) == path) return number;
  }
  return -1;
}

bool can_run_itself() {
  const bool can = run_test_case("/proc/self/exe", "no such test case") == 0;
  if (!can) MESSAGE("skipped: unit.platform: this program cannot be run by its file");
  return can;
}

bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const size_t name_end = text.str().rfind(')');
  return name_end != std::string::npos && text.str().substr(name_end + 2, 1) != "Z";
}

bool ends_within(pid_t process, unsigned milliseconds) {
  for (unsigned i = 0; i < milliseconds; ++i) {
    if (!is_running(process)) return true;
    hmn::platform::sleep_ns(hmn::platform::ns_per_ms);
  }
  return false;
}

}  // namespace test
