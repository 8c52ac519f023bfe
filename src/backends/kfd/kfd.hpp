// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "model/function_ref.hpp"
#include "model/usage.hpp"

namespace hmn::kfd {

// <kfd>/topology/nodes/<n>: gpu_id, properties ("key value" on each line) and mem_banks/<n>.

// Pure. Returns the value of a line "key 123"; the last line may be unterminated.
std::optional<std::uint64_t> find_property(std::string_view text, std::string_view key) noexcept;

// Pure. Fills data of `properties`; returns false for a node that is no GPU or cannot be located.
bool parse_node(std::string_view properties, drm::ComputeNode& node) noexcept;

// Pure. Returns the bytes of a bank of the GPU's own memory; nothing for another bank.
std::optional<std::uint64_t> parse_bank(std::string_view properties) noexcept;

class Topology {
 public:
  explicit Topology(const std::string& kfd) : folder_(kfd + "/topology") {}

  // Reads the topology again if it has changed. Returns 0, or errno if all or part of it could not
  // be read.
  int refresh();
  [[nodiscard]] const std::vector<drm::ComputeNode>& nodes() const noexcept { return nodes_; }
  // Number of nodes that this user or container may not read.
  [[nodiscard]] std::uint32_t refused_count() const noexcept { return refused_count_; }

 private:
  // Returns 0, or errno of an unreadable file.
  int add(std::string_view node);

  std::string folder_;
  std::vector<drm::ComputeNode> nodes_;
  std::optional<std::uint64_t> generation_;  // of nodes_
  std::uint32_t refused_count_ = 0;
};

// <kfd>/proc/<pid>: what compute processes use. The pids are those of the initial PID namespace.
struct ComputeUse {
  std::uint32_t pid = 0;
  std::uint64_t vram = 0;
};

// Pure. Merges a compute process into the row of the same pid, or adds a row.
void merge(const ComputeUse& use, std::vector<Usage>& rows);

class ProcessList {
 public:
  ProcessList(const std::string& kfd, std::string proc_root)
      : folder_(kfd + "/proc"), proc_root_(std::move(proc_root)) {}

  // Visits the processes with memory or a queue on this GPU; an open /dev/kfd alone uses nothing.
  // Returns 0, or errno of an unreadable file.
  using Visitor = FunctionRef<void(const ComputeUse&)>;
  int visit_gpu(std::uint32_t gpu_id, Visitor visit) const;
  int visit_process(std::uint32_t gpu_id, std::uint32_t pid, Visitor visit) const;
  // Whether pids of the initial namespace are those of the proc tree in use.
  [[nodiscard]] bool has_host_pids();

 private:
  std::string folder_;
  std::string proc_root_;
  std::optional<bool> has_host_pids_;
};

}  // namespace hmn::kfd

namespace hmn {

// Driver of AMD's compute interface: <sys>/class/kfd/kfd.
std::unique_ptr<drm::ComputeDriver> make_kfd(const Settings& settings);

}  // namespace hmn
