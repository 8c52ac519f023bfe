// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "platform/errno_or.hpp"

namespace hmn::tegra {

// The GPU of an NVIDIA SoC: a platform device of the driver nvgpu.
struct gpu {
  std::string folder;   // has `load`; empty: there is none
  std::string devfreq;  // has `cur_freq`; empty: none
  std::string chip;     // its node in the device tree: "ga10b", "gpu"
};

// One whose driver is nouveau is a DRM card, and no business of this source.
gpu find_gpu(std::string_view sys_root);

// The board, by the device tree: "NVIDIA Jetson AGX Orin Developer Kit".
platform::errno_or<std::string> board_name(std::string_view proc_root, std::string_view sys_root);

// "suspending" counts: a reading would call it back.
bool is_suspended(const gpu& g);

}  // namespace hmn::tegra
