// SPDX-License-Identifier: MIT OR Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "recorded.hpp"

int main(int argc, char** argv) {
  if (!recorded::is_here()) {
    std::printf("skipped: %s: no recordings at %s\n", HMN_SUITE, HMN_CORPUS_DIR);
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
