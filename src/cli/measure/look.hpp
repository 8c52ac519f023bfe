// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include "cli/handles.hpp"

namespace hmn::cli {

constexpr hmn_flags everything = HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM | HMN_COLLECT_DEVICES |
                                 HMN_COLLECT_POOLS | HMN_COLLECT_SELF | HMN_COLLECT_PROCESSES |
                                 HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS;

// Takes a snapshot after the devices have become known, so that one that then hangs takes only the
// figures with it, not the list. With `trace` prints the driver calls of all of it.
expected<snapshot> look(const context& in, const hmn_snapshot_options& what, bool trace);

}  // namespace hmn::cli
