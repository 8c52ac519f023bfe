// SPDX-License-Identifier: MIT OR Apache-2.0
#include "witness.hpp"

namespace lies_test {
namespace {

constexpr std::uint64_t all_commands =
    bit_of(HMN_BACKEND_NVIDIA_SMI) | bit_of(HMN_BACKEND_AMD_SMI) | bit_of(HMN_BACKEND_ROCM_SMI);

}  // namespace

Witness::Witness(std::uint64_t commands, std::uint32_t deadline_ms)
    : Observer(bit_of(HMN_BACKEND_NVML) | (all_commands & ~commands), deadline_ms) {
  hmn_fake::set_host_namespace(tree_);
  tree_.directory("proc/self/fd");
  tree_.directory("sys/bus/pci/devices");
  set(HMN_PATH_PROC, tree_.proc());
  set(HMN_PATH_SYS, tree_.sys());
}

}  // namespace lies_test
