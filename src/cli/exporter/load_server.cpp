// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/module.hpp"
#include "cli/exporter/server.hpp"
#include "cli/system/module.hpp"

namespace hmn::cli {

std::optional<failure> serve(const server_settings& how) {
  const auto loaded = HMN_LOAD("exporter", hmn_exporter_serve);
  if (!loaded)
    return failed("no server: " + loaded.why().message + "; --once and --textfile need none");
  std::optional<failure> result;
  (*loaded)(&how, &result);
  return result;
}

}  // namespace hmn::cli
