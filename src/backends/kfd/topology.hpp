// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <kfd>/topology/nodes/<n>: gpu_id, properties ("key value" in each line) and mem_banks/<n>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/compute.hpp"

namespace hmn::kfd {

// Pure: the value of a line "key 123"; the last line needs no end.
std::optional<std::uint64_t> property(std::string_view text, std::string_view key) noexcept;

// Pure: fills what `properties` tells; false for a node that is no GPU, or lacks what finds one.
bool parse_node(std::string_view properties, drm::compute_node& into) noexcept;

// Pure: bytes of a bank of the GPU's own memory; nothing for another bank.
std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept;

class topology {
 public:
  explicit topology(const std::string& kfd) : folder_(kfd + "/topology") {}

  // Reads it again where it changed. 0, or errno when it cannot be listed, or not all of it now.
  int refresh();
  [[nodiscard]] const std::vector<drm::compute_node>& nodes() const noexcept { return nodes_; }
  // Nodes that this user or container may not look at.
  [[nodiscard]] std::uint32_t refused() const noexcept { return refused_; }

 private:
  // 0, or errno of what could not be read.
  int add(std::string_view node);

  std::string folder_;
  std::vector<drm::compute_node> nodes_;
  std::optional<std::uint64_t> generation_;  // of nodes_
  std::uint32_t refused_ = 0;
};

}  // namespace hmn::kfd
