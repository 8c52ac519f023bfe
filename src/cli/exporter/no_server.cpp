// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server.hpp"

namespace hmn::cli {

std::optional<Failure> serve(const ServerSettings&) {
  return make_failure(
      "built without the server of `hmn exporter`; --once and --textfile need none");
}

}  // namespace hmn::cli
