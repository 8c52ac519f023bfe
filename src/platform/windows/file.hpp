// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "platform/file.hpp"

namespace hmn::platform {

// Returns 0 or errno.
int list_folder(const char* path, EntryVisitor visit);

// Returns whether a file of this name is a program rather than a script.
bool is_program_name(std::string_view name) noexcept;

}  // namespace hmn::platform
