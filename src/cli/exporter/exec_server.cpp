// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server.hpp"
#include "cli/system/installation.hpp"

namespace hmn::cli {

std::optional<Failure> serve(const ServerSettings& settings) {
  return make_failure("no server: " + exec_program("hmn-exporter", settings.command_line).message +
                      "; --once and --textfile need none");
}

}  // namespace hmn::cli
