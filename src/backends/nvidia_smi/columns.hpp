// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Columns queried from the tool, and their names in its versions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::nvidia_smi {

enum class gpu_column : std::size_t {
  index,
  uuid,
  name,
  pci_bus_id,
  pci_device,
  pci_subsystem,
  driver_version,
  compute_capability,
  mig_mode,
  addressing_mode,
  memory_total,
  memory_used,
  memory_free,
  memory_reserved,
  gpu_busy,
  memory_busy,
  encoder_busy,
  decoder_busy,
  temperature,
  memory_temperature,
  power,
  power_limit,
  core_clock,
  memory_clock,
  fan,
  pcie_generation,
  pcie_width,
  p_state,
  throttle,
  sm_clock,
  video_clock,
  core_clock_limit,
  memory_clock_limit,
  power_usual,
  power_lowest,
  power_highest,
  ecc_corrected,
  ecc_corrected_ever,
  ecc_uncorrected,
  ecc_uncorrected_ever,
  count,
};

enum class app_column : std::size_t { gpu_uuid, gpu_bus_id, pid, used, name, count };

// Return a line per column: its spellings, separated by blanks, in order of preference, newest
// first. The header may have a later one than was queried.
std::string_view gpu_spellings() noexcept;
std::string_view app_spellings() noexcept;

// Columns to query from this tool: each starts with its first spelling and falls back to the next
// when the tool rejects it.
class column_choice {
 public:
  explicit column_choice(std::string_view columns);

  // Returns "index,uuid,…".
  [[nodiscard]] std::string list() const;
  // Marks `name` as unknown to the tool. Returns false if it was not queried.
  bool refuse(std::string_view name);
  void reset();
  // Whether this tool lacks the column under every spelling.
  [[nodiscard]] bool is_refused(std::size_t column) const;

 private:
  std::string_view columns_;
  std::vector<std::string_view> left_;  // spellings of each column that were not rejected
};

}  // namespace hmn::nvidia_smi
