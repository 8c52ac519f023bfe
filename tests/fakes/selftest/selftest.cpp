// SPDX-License-Identifier: MIT OR Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include "selftest.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace selftest {
namespace {

bool was_skipped = false;

}  // namespace

bool is_absent(const char* suite, const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  std::printf("skipped: %s: no %s\n", suite, path.c_str());
  was_skipped = true;
  return true;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) FAIL("no file ", path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace selftest

int main(int argc, char** argv) {
  const int result = doctest::Context(argc, argv).run();
  return result == 0 && selftest::was_skipped ? 77 : result;
}
