// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

#include "backends/os/windows/process_table.hpp"
#include "model/usage.hpp"

namespace hmn::os {

// The last part of "C:\...\name.exe" or "\Device\...\name.exe".
std::string_view name_of_image(std::string_view path) noexcept;

// Fills what is still unknown of a row: name and its state, start, resident set. One opening of the
// process.
void describe(process_table& table, usage& row);

// The same for command.
void describe_texts(usage& row);

}  // namespace hmn::os
