// SPDX-License-Identifier: MIT OR Apache-2.0
#include "witness.hpp"

namespace lies_test {
namespace {

constexpr std::uint64_t all_commands = backend_bit(HMN_BACKEND_NVIDIA_SMI) |
                                       backend_bit(HMN_BACKEND_AMD_SMI) |
                                       backend_bit(HMN_BACKEND_ROCM_SMI);

}  // namespace

Witness::Witness(std::uint64_t commands, std::uint32_t deadline_ms)
    : Observer(backend_bit(HMN_BACKEND_NVML) | (all_commands & ~commands), deadline_ms) {
  hmn_fake::set_host_namespace(tree_);
  tree_.directory("proc/self/fd");
  tree_.directory("sys/bus/pci/devices");
  set_path(HMN_PATH_PROC, tree_.proc());
  set_path(HMN_PATH_SYS, tree_.sys());
}

}  // namespace lies_test
