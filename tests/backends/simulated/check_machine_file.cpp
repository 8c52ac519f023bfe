// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Prints one line for each file: "ok", or the place and the sentence of what is wrong with it.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "backends/simulated/script.hpp"

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(files[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const auto read = hmn::simulated::read_script(text, 4711);
    const auto* wrong = std::get_if<hmn::simulated::problem>(&read);
    if (wrong == nullptr) {
      std::puts("ok");
    } else {
      std::printf("%s: %s\n", wrong->pointer.c_str(), wrong->sentence.c_str());
    }
  }
}
