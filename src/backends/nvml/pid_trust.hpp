// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whose pids a driver lists. Some translate them to the caller's PID namespace and hide the others;
// older ones give the host's. Only where the list must hold the caller does its absence mean 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvml/processes.hpp"

namespace hmn::nvml {

// Pure: the target of a descriptor's link is something through which a GPU is used.
bool is_gpu_node(std::string_view target) noexcept;

class pid_trust {
 public:
  explicit pid_trust(const std::string& proc_root);

  // Around the opening of NVML, whose own descriptors must not be taken for the caller's.
  void before_opening();
  void after_opening();

  [[nodiscard]] bool in_initial_namespace();
  // Whether the caller uses no GPU at all, as far as its descriptors tell.
  [[nodiscard]] bool holds_no_gpu();
  // Whether a row is a process of our namespace that really holds a GPU.
  [[nodiscard]] bool sees_our_namespace(std::span<const merged_process> rows);
  [[nodiscard]] bool exists(std::uint32_t pid) const;

 private:
  struct held {
    std::string descriptor;  // its name in <proc>/self/fd
    std::string target;

    bool operator==(const held&) const = default;
  };

  static bool has(const std::vector<held>& all, const held& one) noexcept;
  std::vector<held> held_by_caller() const;
  bool process_holds_gpu(std::uint32_t pid) const;

  std::string proc_root_;
  std::string own_descriptors_;
  std::optional<bool> initial_;
  bool sees_ours_ = false;
  std::vector<held> before_;
  std::vector<held> own_;  // NVML's
};

}  // namespace hmn::nvml
