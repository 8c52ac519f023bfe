// SPDX-License-Identifier: MIT OR Apache-2.0
// Names of nvidia-smi's columns, and the units that it prints after numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fake_smi {

// Returns the name in the header for any accepted name.
std::string_view canonical_gpu_field(std::string_view name);
std::string_view canonical_app_field(std::string_view name);

std::string_view column_unit(std::string_view field);

// Columns of a recent tool that monitors query.
const std::vector<std::string>& gpu_fields();
const std::vector<std::string>& app_fields();

}  // namespace fake_smi
