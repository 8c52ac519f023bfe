// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What several nouns need of the C options.
#pragma once

#include <hypomnesis.h>

#include "core/context.hpp"
#include "core/snapshot.hpp"

namespace hmn::api {

// `default_collect`: what a collect of 0 stands for.
result<snapshot_request> request_from(const hmn_snapshot_options* options,
                                      hmn_flags default_collect);

}  // namespace hmn::api
