// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"
#include "model/device.hpp"
#include "platform/windows/library.hpp"

namespace hmn::nvidia_smi {
namespace {

using platform::SystemPath;

const SystemPath system_folder(SystemPath::Base::system_folder, "");
// Drivers before 2018 were installed in a folder of their own.
const SystemPath older_folder(SystemPath::Base::system_drive,
                              "Program Files\\NVIDIA Corporation\\NVSMI\\");
// Unknown folders are skipped: no path is relative to the current folder.
const std::string_view folders[] = {system_folder.view(), older_folder.view()};

}  // namespace

constinit const command_tool::ToolDescription smi{
    .fail = {Source::nvidia_smi},
    .name = "nvidia-smi",
    .gpu = "an NVIDIA GPU",
    .vendor = vendor::nvidia,
    .driver = "nvidia",
    .folders = folders,
    .absent_message = "not found in its default folders; it comes with the NVIDIA driver",
    .file = "nvidia-smi.exe",
    .may_have_no_driver = true,
};

}  // namespace hmn::nvidia_smi
