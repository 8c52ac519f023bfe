// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Conversions of C options that several nouns share.
#pragma once

#include <hypomnesis.h>

#include "core/context.hpp"
#include "core/snapshot.hpp"

namespace hmn::api {

// Takes the replacement for a collect of 0 in `default_collect`.
result<snapshot_request> request_from(const hmn_snapshot_options* options,
                                      hmn_flags default_collect);

}  // namespace hmn::api
