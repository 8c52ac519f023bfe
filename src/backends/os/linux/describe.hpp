// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "model/usage.hpp"
#include "procfs/boot_id.hpp"
#include "procfs/boot_time.hpp"

namespace hmn::os {

// Fills those still unknown of: name and its state, start, owner, resident set. Reads the stat file
// once and the folder's owner once.
void describe(std::string_view root, std::size_t page_size, procfs::boot_time& boot,
              procfs::boot_id& id, usage& row);

// Fills command and container, from cmdline and cgroup.
void describe_texts(std::string_view root, usage& row);

}  // namespace hmn::os
