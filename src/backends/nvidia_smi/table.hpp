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
Status parse_status(std::string_view cell) noexcept;

// Number, or why it is missing: unsupported, permission, device_lost …; backend if it is malformed.
template <class T>
struct CellValue {
  std::optional<T> value;
  Status status = Status::unsupported;
};

// The unit is in the header, in the cell, or in both; then they must agree.
CellValue<std::uint64_t> parse_bytes(std::string_view cell, std::string_view header_unit) noexcept;
CellValue<double> parse_number(std::string_view cell, std::string_view header_unit,
                               std::string_view expected_unit) noexcept;
CellValue<std::uint32_t> parse_count(std::string_view cell, std::string_view header_unit,
                                     std::string_view expected_unit) noexcept;
// Parses "0x1E8110DE".
CellValue<std::uint64_t> parse_hexadecimal(std::string_view cell) noexcept;
// Parses "P8".
CellValue<std::uint32_t> parse_p_state(std::string_view cell) noexcept;

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
  power_default,
  power_min,
  power_max,
  ecc_corrected,
  ecc_corrected_lifetime,
  ecc_uncorrected,
  ecc_uncorrected_lifetime,
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
  bool reject(std::string_view name);
  void reset();
  // Whether this tool lacks the column under every spelling.
  [[nodiscard]] bool is_rejected(std::size_t column) const;

 private:
  std::string_view columns_;
  std::vector<std::string_view> remaining_;  // spellings of each column that were not rejected
};

struct Column {
  std::string_view name;
  std::string_view unit;  // empty: none
};

// Counts lines that are neither header nor row, and keeps the start of the first ones.
class StrayLines {
 public:
  void add(std::string_view line);
  [[nodiscard]] const std::vector<Text<256>>& first_lines() const noexcept { return first_lines_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::vector<Text<256>> first_lines_;
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
Table parse_table(std::string_view text, std::string_view known_columns, std::string_view free_text,
                  std::size_t max_rows);

}  // namespace hmn::nvidia_smi
