// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/sentence.hpp"

namespace hmn::amd_tool {
namespace {

using about = sentence::about;

constexpr sentence sentences[] = {
    {"not found in modules", about::tool, status::no_source, "load the amdgpu driver"},
    {"Driver not initialized", about::tool, status::no_source, "load the amdgpu driver"},
    {"Unable to detect any GPU", about::tool, status::no_source, "load the amdgpu driver"},
    {"ermission denied", about::tool, status::permission, "it needs more rights"},
    {"rsmi_init", about::tool, status::backend, "update ROCm to fit the driver"},
    {"expected value is 0", about::tool, status::backend, "update ROCm to fit the driver"},
    {"Error:", about::tool, status::backend, "its installation is not whole"},
    {"an not find a device", about::tool, status::no_device, "it is gone"},
    {"unrecognized arguments", about::tool, status::unsupported, "update ROCm"},
    {"invalid choice", about::tool, status::unsupported, "update ROCm"},
    {"is invalid", about::tool, status::unsupported, "update ROCm"},
    {"No DRM devices", about::nothing, status::no_device, "look whether amdgpu has the card"},
    {"No AMD GPUs", about::nothing, status::no_device, "look whether amdgpu has the card"},
    {"No JSON data", about::nothing, status::no_device, "look whether amdgpu has the card"},
    {"required groups", about::warning, status::permission, "add the user to the groups"},
    {"low-power state", about::warning, status::asleep, "figures of that card may be missing"},
};

}  // namespace

const sentence* find_sentence(std::string_view line) noexcept {
  return command_tool::find_sentence(sentences, line);
}

}  // namespace hmn::amd_tool
