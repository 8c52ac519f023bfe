// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes each line of its input for a machine file and prints "ok", or the place and the sentence of
// first error.
#include <cstdio>
#include <iostream>
#include <string>

#include "backends/simulated/script.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto result = hmn::simulated::read_script(line, 4711);
    const auto* problem = std::get_if<hmn::simulated::Problem>(&result);
    if (problem == nullptr) {
      std::puts("ok");
    } else {
      std::printf("%s: %s\n", problem->pointer.c_str(), problem->sentence.c_str());
    }
  }
}
