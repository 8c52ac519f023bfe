// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The tool's output as rows of known columns: pure functions from text to values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/table.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/device.hpp"
#include "model/function_ref.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/text.hpp"
#include "model/usage.hpp"

namespace hmn::nvidia_smi {

struct GpuCell {
  bool is_present = false;  // the output has this column
  std::string text;
  std::string unit;
};

struct GpuRow {
  std::array<GpuCell, static_cast<std::size_t>(GpuColumn::count)> cells;

  [[nodiscard]] const GpuCell& operator[](GpuColumn column) const {
    return cells[static_cast<std::size_t>(column)];
  }
  // Text of a cell that has a value; "" for any other.
  [[nodiscard]] std::string_view value_or_empty(GpuColumn column) const;
};

struct AppRow {
  std::string gpu_uuid;  // empty: not reported
  Text<32> gpu_bus_id;
  std::uint32_t pid = 0;  // 0: the tool lists no processes of this GPU, for the reason in
                          // `list_status`
  Status list_status = Status::ok;
  CellValue<std::uint64_t> used;
  hmn::NameState name_state = hmn::NameState::unknown;
  std::string name;  // program name without its folder
};

inline constexpr std::size_t max_gpus = 1024;
inline constexpr std::size_t max_apps = 65'536;

struct ParseResult {
  bool is_table = false;  // a header was found
  StrayLines strays;
  bool is_truncated = false;  // more than `max_gpus` or `max_apps`
  std::size_t count = 0;      // of rows
};

template <class Row>
struct Answer : ParseResult {
  std::vector<Row> rows;
};

// `cut`: the text was truncated, so that its last line may be incomplete.
Answer<GpuRow> parse_gpus(std::string_view text, bool cut);
Answer<AppRow> parse_apps(std::string_view text, bool cut);

// Returns "kwin_wayland" for "/usr/bin/kwin_wayland", "c.exe" for "C:\\a b\\c.exe".
std::string_view extract_program(std::string_view process_name) noexcept;

using command_tool::add_missing;
using command_tool::MissingFields;

// Adds the reason why `cell` has no value: its text, or that the tool lacks the column.
void add_missing(std::vector<MissingFields>& gaps, FieldSet field, Status code,
                 const GpuCell& cell);

// Leaves `slot` unset.
Device read_identity(const GpuRow& row);
bool is_mig_on(const GpuRow& row);

Result<Pool> read_pool(const GpuRow& row, std::vector<MissingFields>& gaps);

// Fields that the table has no column for.
inline constexpr std::uint32_t fields_without_column =
    telemetry_field::hotspot_celsius | telemetry_field::energy_joules | telemetry_field::fan_rpm |
    telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes | telemetry_field::window_ns;

// `fields`: telemetry_field bits.
Telemetry read_telemetry(const GpuRow& row, FieldSet fields, std::vector<MissingFields>& gaps);

// Appends each metric with a value. `on_error` gets those whose cell has an error other than that
// the GPU does not support the metric.
void append_metrics(const GpuRow& row, std::vector<Metric>& metrics,
                    FunctionRef<void(FieldSet, Status, const GpuCell&)> on_error);

}  // namespace hmn::nvidia_smi
