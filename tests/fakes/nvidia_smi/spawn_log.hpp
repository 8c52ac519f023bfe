// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fake_smi {

// Appends one JSON line on how this process was started; returns the number of earlier lines.
unsigned log_spawn(const std::string& path, const std::vector<std::string>& argv);

}  // namespace fake_smi
