// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace test {

ScratchFolder::ScratchFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "hmn-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  path_ = folder;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(std::string_view name, std::string_view text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

int wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_test_case(const std::string& program, const char* name) {
  const std::string filter = std::string("--test-case=") + name;
  return in_child([&] {
    const int null_device = open("/dev/null", O_WRONLY);
    dup2(null_device, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), filter.c_str(), "--no-skip", nullptr);
    return 126;
  });
}

}  // namespace test
