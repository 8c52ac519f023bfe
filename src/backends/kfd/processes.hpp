// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <kfd>/proc/<pid>: usage of compute processes. The pids are those of the initial PID namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/function_ref.hpp"
#include "model/usage.hpp"

namespace hmn::kfd {

struct compute_use {
  std::uint32_t pid = 0;
  std::uint64_t vram = 0;
};

// Pure. Merges a compute process into the row of the same pid, or adds a row.
void merge(const compute_use& use, std::vector<usage>& rows);

class process_list {
 public:
  process_list(const std::string& kfd, std::string proc_root)
      : folder_(kfd + "/proc"), proc_root_(std::move(proc_root)) {}

  // Processes with memory or a queue on this GPU; an open /dev/kfd alone is no usage. Returns 0, or
  // errno of an unreadable file.
  using visitor = function_ref<void(const compute_use&)>;
  int of_gpu(std::uint32_t gpu_id, visitor visit) const;
  int of_process(std::uint32_t gpu_id, std::uint32_t pid, visitor visit) const;
  // Whether pids of the initial namespace are those of the proc tree in use.
  [[nodiscard]] bool knows_pids();

 private:
  std::string folder_;
  std::string proc_root_;
  std::optional<bool> knows_pids_;
};

}  // namespace hmn::kfd
