// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Made-up cards of amdgpu: the files that the kernel's documentation (Documentation/gpu/amdgpu)
// lists, with made-up values.
#pragma once

#include <cstdint>
#include <string>

#include "fake_tree.hpp"

namespace amdgpu_test {

inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// A discrete card: Navi 21.
hmn_fake::PciDevice navi(const char* address = "0000:03:00.0");
inline const std::string navi_folder = "sys/" + hmn_fake::pci_folder("0000:03:00.0");
// An APU: Phoenix.
hmn_fake::PciDevice phoenix(const char* address = "0000:64:00.0");

// Makes a file unreadable even for root (EACCES). False: not possible on this kernel.
bool make_refused(const hmn_fake::Tree& tree, const std::string& file);

// fdinfo of a client, in KiB.
std::string client_text(const char* pdev, unsigned id, std::uint64_t vram_kib,
                        std::uint64_t gtt_kib);

// <sys>/class/kfd/kfd/topology/nodes/<node>: a GPU with memory of its own.
struct GpuNode {
  unsigned node = 1;
  unsigned gpu_id = 0;
  unsigned location = 0;
  unsigned render_minor = 128;
  std::uint64_t memory = 0;
  unsigned simd_count = 416;
};
void add_kfd_node(const hmn_fake::Tree& tree, const GpuNode& node);
void set_kfd_generation(const hmn_fake::Tree& tree, unsigned generation);
void set_kfd_vram(const hmn_fake::Tree& tree, unsigned pid, unsigned gpu_id, std::uint64_t bytes);

}  // namespace amdgpu_test
