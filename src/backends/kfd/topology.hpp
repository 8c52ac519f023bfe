// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <kfd>/topology/nodes/<n>: gpu_id, properties ("key value" on each line) and mem_banks/<n>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/compute.hpp"

namespace hmn::kfd {

// Pure. Returns the value of a line "key 123"; the last line may be unterminated.
std::optional<std::uint64_t> property(std::string_view text, std::string_view key) noexcept;

// Pure. Fills data of `properties`; returns false for a node that is no GPU, or cannot be located.
bool parse_node(std::string_view properties, drm::compute_node& into) noexcept;

// Pure. Returns the bytes of a bank of the GPU's own memory; nothing for another bank.
std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept;

class topology {
 public:
  explicit topology(const std::string& kfd) : folder_(kfd + "/topology") {}

  // Reads it again if it changed. Returns 0, or errno if all or part of it could not be read.
  int refresh();
  [[nodiscard]] const std::vector<drm::compute_node>& nodes() const noexcept { return nodes_; }
  // Number of nodes that this user or container may not read.
  [[nodiscard]] std::uint32_t refused() const noexcept { return refused_; }

 private:
  // Returns 0, or errno of an unreadable file.
  int add(std::string_view node);

  std::string folder_;
  std::vector<drm::compute_node> nodes_;
  std::optional<std::uint64_t> generation_;  // of nodes_
  std::uint32_t refused_ = 0;
};

}  // namespace hmn::kfd
