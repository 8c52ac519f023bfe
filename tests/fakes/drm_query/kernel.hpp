// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The two queries as the kernel answers them: i915_query.c, xe_query.c.
#pragma once

#include "scenario.hpp"

namespace fake_drm {

// State of a node between requests.
struct Session {
  unsigned interruptions = 0;
  unsigned data_passes = 0;
  bool is_data_pass = false;  // of the last request
};

// 0 or errno.
int answer(const Scenario& scenario, const Node& node, Session& session, unsigned long request,
           void* argument);

}  // namespace fake_drm
