// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "model/usage.hpp"
#include "procfs/boot_time.hpp"

namespace hmn::os {

// Fills what is still unknown of a row: name and its state, start, owner, resident set. One reading
// of the process' stat file and one look at its folder.
void describe(std::string_view root, std::size_t page_size, procfs::boot_time& boot, usage& row);

// The same for command and container: a reading of cmdline and one of cgroup.
void describe_texts(std::string_view root, usage& row);

}  // namespace hmn::os
