// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"
#include "model/device.hpp"

namespace hmn::nvidia_smi {
namespace {

constexpr std::string_view folders[] = {
    "/usr/bin/",
    "/usr/local/bin/",
    "/bin/",
    "/usr/lib/wsl/lib/",
    "/opt/bin/",
    "/run/current-system/sw/bin/",
    "/usr/local/nvidia/bin/",
};

}  // namespace

constinit const command_tool::ToolDescription smi{
    .fail = {Source::nvidia_smi},
    .name = "nvidia-smi",
    .gpu = "an NVIDIA GPU",
    .vendor = vendor::nvidia,
    .driver = "nvidia",
    .folders = folders,
    .absent_message = "not found in its default folders; it comes with the NVIDIA driver",
    .timeout_advice = "; persistence mode (nvidia-persistenced) keeps the driver ready",
    .may_have_no_driver = true,
};

}  // namespace hmn::nvidia_smi
