// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>

#include "cli/exporter/server.hpp"

// The server is a module that `hmn exporter` loads, so that no other command waits for its
// libraries. Both are of one build: the symbol's name has the version.
#define HMN_SERVER_ENTRY hmn_exporter_serve_1

extern "C" void HMN_SERVER_ENTRY(const hmn::cli::server_settings* how,
                                 std::optional<hmn::cli::failure>* result);
