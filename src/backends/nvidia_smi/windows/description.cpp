// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"
#include "model/device.hpp"

namespace hmn::nvidia_smi {
namespace {

// Drivers before 2018 had a folder of their own.
constexpr std::string_view folders[] = {
    "C:\\Windows\\System32\\",
    "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\",
};

}  // namespace

constinit const command_tool::description smi{
    .from = source::nvidia_smi,
    .name = "nvidia-smi",
    .gpu = "an NVIDIA GPU",
    .vendor = vendor::nvidia,
    .driver = "nvidia",
    .folders = folders,
    .absent = "nvidia-smi is in none of its usual folders; it comes with the NVIDIA driver",
    .file = "nvidia-smi.exe",
    .may_have_no_driver = true,
};

}  // namespace hmn::nvidia_smi
