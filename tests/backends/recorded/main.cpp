// SPDX-License-Identifier: MIT OR Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "recorded.hpp"

int main(int argc, char** argv) {
  if (!recorded::is_here()) {
    const char* suite = std::getenv("HMN_SUITE");
    std::printf("skipped: %s: no recordings at %s\n", suite != nullptr ? suite : argv[0],
                HMN_CORPUS_DIR);
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
