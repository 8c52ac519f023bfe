// SPDX-License-Identifier: MIT OR Apache-2.0
// What nvidia-smi calls its columns, and the unit that it prints after a number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fake_smi {

// The name that the header shows for a name that the caller may use.
std::string_view canonical_gpu_field(std::string_view name);
std::string_view canonical_app_field(std::string_view name);

std::string_view unit_of(std::string_view field);

// Of a recent tool, as far as a monitor asks.
const std::vector<std::string>& gpu_fields();
const std::vector<std::string>& app_fields();

}  // namespace fake_smi
