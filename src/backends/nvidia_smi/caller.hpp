// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

namespace hmn::nvidia_smi {

// Whether the calling process has a device node of the NVIDIA driver open. Without one it uses no
// GPU memory; true also when that cannot be told.
bool holds_gpu_descriptor(const std::string& proc_root);

}  // namespace hmn::nvidia_smi
