// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whose pids the driver lists. Some drivers translate pids to the caller's PID namespace and hide
// the others; older ones list the host's. A process that is not listed uses nothing only if the
// list would contain it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvml/processes.hpp"

namespace hmn::nvml {

// Pure. Whether the target of a descriptor's link is a node used by GPU clients.
bool is_gpu_node(std::string_view target) noexcept;

class PidTrust {
 public:
  explicit PidTrust(const std::string& proc_root);

  // Called before and after NVML is opened, so that its descriptors do not count as the caller's.
  void begin_opening();
  void end_opening();

  [[nodiscard]] bool is_in_initial_namespace();
  // Whether the proc tree is of another namespace, where any pid may belong to another process.
  [[nodiscard]] bool has_foreign_tree() const;
  // Called before the devices of a reading, all of which share what the first one found.
  void begin_reading() noexcept;
  // Whether the caller's descriptors prove that it uses no GPU.
  [[nodiscard]] bool holds_no_gpu();
  // Whether a row is a process of our namespace that does hold a GPU.
  [[nodiscard]] bool sees_our_namespace(std::span<const MergedProcess> rows);
  [[nodiscard]] bool exists(std::uint32_t pid) const;

 private:
  // A descriptor's name in <proc>/self/fd, and the target of its link: "7 /dev/nvidia0".
  using OpenNode = std::string;

  std::vector<OpenNode> list_open_nodes() const;
  bool is_still_open(const OpenNode& node) const;
  bool process_holds_gpu(std::uint32_t pid) const;

  std::string proc_root_;
  std::string own_descriptors_;
  std::optional<bool> is_in_initial_;
  bool sees_our_namespace_ = false;
  int lowest_descriptor_ = -1;  // free descriptor before NVML is opened
  std::vector<OpenNode> nodes_before_;
  std::vector<OpenNode> nvml_nodes_;             // opened by NVML
  OpenNode caller_node_;                         // opened by the caller, last seen; empty: none
  bool is_checked_ = false;                      // in this reading
  std::vector<std::uint32_t> pids_without_gpu_;  // processes without a GPU in this reading
};

}  // namespace hmn::nvml
