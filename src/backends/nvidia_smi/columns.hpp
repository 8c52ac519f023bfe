// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Columns queried from the tool, and their names in its versions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/short_text.hpp"

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

// Spellings in order of preference, newest first; the header may have a later one than was queried.
struct spellings {
  std::array<short_text<44>, 2> names;  // unused ones are empty

  [[nodiscard]] constexpr bool has(std::string_view name) const noexcept {
    return name == names[0] || (!names[1].empty() && name == names[1]);
  }
};

std::span<const spellings> gpu_spellings() noexcept;
std::span<const spellings> app_spellings() noexcept;

// Columns to query from this tool: each starts with its first spelling and falls back to the next
// when the tool rejects it.
class column_choice {
 public:
  explicit column_choice(std::span<const spellings> columns);

  // Returns "index,uuid,…".
  [[nodiscard]] std::string list() const;
  // Marks `name` as unknown to the tool. Returns false if it was not queried.
  bool refuse(std::string_view name);
  void reset();
  // Whether this tool lacks the column under every spelling.
  [[nodiscard]] bool is_refused(std::size_t column) const;

 private:
  std::span<const spellings> columns_;
  std::vector<std::size_t> choice_;  // index into the spellings; past the end: none left
};

}  // namespace hmn::nvidia_smi
