// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Takes each line of its input for a machine file and prints "ok", or the place and the sentence of
// what is wrong with it.
#include <cstdio>
#include <iostream>
#include <string>

#include "backends/simulated/script.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto read = hmn::simulated::read_script(line, 4711);
    const auto* wrong = std::get_if<hmn::simulated::Problem>(&read);
    if (wrong == nullptr) {
      std::puts("ok");
    } else {
      std::printf("%s: %s\n", wrong->pointer.c_str(), wrong->sentence.c_str());
    }
  }
}
