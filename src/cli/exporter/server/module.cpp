// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/module.hpp"

#include <exception>

#include "cli/exporter/server/http_server.hpp"

[[gnu::visibility("default")]] void hmn_exporter_serve(const hmn::cli::server_settings* how,
                                                       std::optional<hmn::cli::failure>* result) {
  try {
    *result = hmn::cli::serve_http(*how);
  } catch (const std::exception& why) {
    *result = hmn::cli::failed(why.what());
  }
}
