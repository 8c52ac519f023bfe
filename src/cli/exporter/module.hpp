// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>

#include "cli/exporter/server.hpp"

// The server is the module "exporter".
extern "C" void hmn_exporter_serve(const hmn::cli::server_settings* how,
                                   std::optional<hmn::cli::failure>* result);
