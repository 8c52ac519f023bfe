// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A folder of copied kernel files as a machine: with "sys" or "proc" in it, or a sysfs tree itself,
// or folders of cards as in /sys/class/drm ("card0", each with its "device"), or one of these.
#pragma once

#include <string>

#include "backends/backend.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// False when `folder` is none of that. `s`: changed for sources that shall read it.
bool open_plain_tree(const std::string& folder, settings& s, platform::recording& out);

}  // namespace hmn::simulated
