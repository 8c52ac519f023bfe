// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/options.hpp"
#include "cli/measure/gpu.hpp"

namespace hmn::cli {

// One process on one device.
struct process_row {
  hypomnesis::usage usage{};
  std::shared_ptr<const gpu> on;  // never null
  bool is_unattributed = false;   // what no process that can be seen uses, in the same figures
  // Looked up only where they are asked for.
  std::optional<std::string> user;
  std::optional<std::uint32_t> namespace_pid;

  std::optional<std::uint64_t> total() const;  // VRAM and shared, as far as known, saturating
};

// Sizes: largest first, unknown last; then names, unknown first; then pids.
void sort_rows(std::vector<process_row>& rows, sort_key by);

struct process_filter {
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;  // as the user wrote it
  std::optional<std::string> match;
};

// "2 GPU processes found matching device=0 (512 MiB allocated total)."
std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter);

}  // namespace hmn::cli
