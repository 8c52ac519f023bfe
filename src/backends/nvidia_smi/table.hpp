// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The columns that are queried, and their names in the tool's versions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

// Status of a table cell: ok if it has a value. Accepts every spelling, with and without brackets:
// they differ between drivers, and between columns of one driver.
Status status_of_cell(std::string_view cell) noexcept;

// Number, or why it is missing: unsupported, permission, device_lost …; backend if it is malformed.
template <class T>
struct Measured {
  std::optional<T> value;
  Status why = Status::unsupported;
};

// The unit is in the header, in the cell, or in both; then they must agree.
Measured<std::uint64_t> bytes_of(std::string_view cell, std::string_view header_unit) noexcept;
Measured<double> number_of(std::string_view cell, std::string_view header_unit,
                           std::string_view expected_unit) noexcept;
Measured<std::uint32_t> count_of(std::string_view cell, std::string_view header_unit,
                                 std::string_view expected_unit) noexcept;
// Parses "0x1E8110DE".
Measured<std::uint64_t> hexadecimal_of(std::string_view cell) noexcept;
// Parses "P8".
Measured<std::uint32_t> p_state_of(std::string_view cell) noexcept;

enum class GpuColumn : std::size_t {
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

enum class AppColumn : std::size_t { gpu_uuid, gpu_bus_id, pid, used, name, count };

// Return a line per column: its spellings, separated by blanks, in order of preference, newest
// first. The header may have a later one than was queried.
std::string_view gpu_spellings() noexcept;
std::string_view app_spellings() noexcept;

// The columns to query from this tool. Each starts with its first spelling, and takes the next when
// the tool rejects it.
class ColumnChoice {
 public:
  explicit ColumnChoice(std::string_view columns);

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

struct Column {
  std::string_view name;
  std::string_view unit;  // empty: none
};

// Counts lines that are neither header nor row, and keeps the start of the first ones.
class StrayLines {
 public:
  void add(std::string_view line);
  [[nodiscard]] const std::vector<Text<256>>& first() const noexcept { return first_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::vector<Text<256>> first_;
  std::size_t count_ = 0;
};

// Output in the form "--format=csv" with a header, with or without units in the cells. Cells are
// views into the output.
struct Table {
  std::vector<Column> columns;                      // empty: no header was found
  std::vector<std::vector<std::string_view>> rows;  // as many cells as columns
  StrayLines strays;
  bool is_truncated = false;  // there were more rows than allowed

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  // Finds the first of several names, separated by blanks.
  [[nodiscard]] std::optional<std::size_t> find_first(std::string_view names) const noexcept;
};

// The tool quotes nothing: in a row with too many commas, the surplus belongs to the first existing
// column of `free_text`.
Table parse_table(std::string_view text, std::string_view known, std::string_view free_text,
                  std::size_t most_rows);

}  // namespace hmn::nvidia_smi
