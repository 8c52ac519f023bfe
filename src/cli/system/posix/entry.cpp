// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/main.hpp"

int main(int argc, char** argv) {
  return hmn::cli::run_program(argc, argv);
}
