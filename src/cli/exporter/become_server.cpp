// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server.hpp"
#include "cli/system/installation.hpp"

namespace hmn::cli {

std::optional<Failure> serve(const ServerSettings& how) {
  return failed("no server: " + become("hmn-exporter", how.command_line).message +
                "; --once and --textfile need none");
}

}  // namespace hmn::cli
