// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <algorithm>
#include <array>

#include "backends/nvidia_smi/tool.hpp"
#include "model/device.hpp"
#include "platform/windows/wide.hpp"

namespace hmn::nvidia_smi {
namespace {

// Drivers before 2018 had a folder of their own.
constexpr std::string_view older = "Program Files\\NVIDIA Corporation\\NVSMI\\";
constexpr std::size_t drive = 3;  // "C:\"

// On the drive that Windows lies on: where it is another, anybody may make folders on C:. Without a
// name of that folder the command is not found, as no path is taken from the current folder.
class usual_folders {
 public:
  usual_folders() noexcept {
    std::array<wchar_t, MAX_PATH> name;
    const UINT length = GetSystemDirectoryW(name.data(), static_cast<UINT>(name.size()));
    if (length == 0 || length >= name.size()) return;
    const std::size_t size = platform::to_utf8({name.data(), length}, system_);
    if (size < drive || size == system_.size()) return;
    system_[size] = '\\';
    all[0] = {system_.data(), size + 1};
    const auto rest = std::copy_n(system_.begin(), drive, older_.begin());
    std::copy(older.begin(), older.end(), rest);
    all[1] = {older_.data(), older_.size()};
  }

  std::array<std::string_view, 2> all{};

 private:
  std::array<char, std::size_t{3} * MAX_PATH> system_{};
  std::array<char, drive + older.size()> older_{};
};

const usual_folders folders;

}  // namespace

constinit const command_tool::description smi{
    .from = source::nvidia_smi,
    .name = "nvidia-smi",
    .gpu = "an NVIDIA GPU",
    .vendor = vendor::nvidia,
    .driver = "nvidia",
    .folders = folders.all,
    .absent = "nvidia-smi is in none of its usual folders; it comes with the NVIDIA driver",
    .file = "nvidia-smi.exe",
    .may_have_no_driver = true,
};

}  // namespace hmn::nvidia_smi
