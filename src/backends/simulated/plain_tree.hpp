// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Folder of copied kernel files as a machine: contains "sys" or "proc", or is a sysfs tree, or
// contains folders of cards as in /sys/class/drm ("card0", each with its "device"), or is one of
// these.
#pragma once

#include <string>

#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// Returns false if `folder` is none of those. `s`: changed for the sources that read it.
bool open_plain_tree(const std::string& folder, settings& s, platform::recording& out);

}  // namespace hmn::simulated
