// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/caller.hpp"

#include <array>
#include <string_view>

#include "platform/file.hpp"

namespace hmn::nvidia_smi {
namespace {

bool is_gpu_node(std::string_view target) {
  // /dev/dxg: WSL
  return target.starts_with("/dev/nvidia") || target.starts_with("/dev/dxg");
}

}  // namespace

bool holds_gpu_descriptor(const std::string& proc_root) {
  const std::string folder = proc_root + "/self/fd";
  bool holds = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    std::array<char, 64> target;
    const auto got = platform::read_link((folder + "/" + std::string(name)).c_str(), target);
    // A longer target than fits is no device node.
    holds = got && is_gpu_node({target.data(), got.value});
    return !holds;
  });
  return holds || error != 0;
}

}  // namespace hmn::nvidia_smi
