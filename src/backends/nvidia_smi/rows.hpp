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
  bool is_asked = false;  // the output has this column
  std::string text;
  std::string unit;
};

struct GpuRow {
  std::array<GpuCell, static_cast<std::size_t>(GpuColumn::count)> cells;

  [[nodiscard]] const GpuCell& operator[](GpuColumn c) const {
    return cells[static_cast<std::size_t>(c)];
  }
  // Text of a cell that has a value; "" for any other.
  [[nodiscard]] std::string_view known(GpuColumn c) const;
};

struct AppRow {
  std::string gpu_uuid;  // empty: not reported
  Text<32> gpu_bus_id;
  std::uint32_t pid = 0;  // 0: the tool lists no processes of this GPU, for the reason in
                          // `why_none`
  Status why_none = Status::ok;
  Measured<std::uint64_t> used;
  hmn::NameState name_state = hmn::NameState::unknown;
  std::string name;  // program name without its folder
};

inline constexpr std::size_t most_gpus = 1024;
inline constexpr std::size_t most_apps = 65'536;

struct Parsed {
  bool is_table = false;  // a header was found
  StrayLines strays;
  bool is_truncated = false;  // more than `most_gpus` or `most_apps`
  std::size_t count = 0;      // of rows that were taken out of the answer
};

template <class Row>
struct Answer : Parsed {
  std::vector<Row> rows;
};

// `cut`: the text was truncated, so that its last line may be incomplete.
Answer<GpuRow> parse_gpus(std::string_view text, bool cut);
Answer<AppRow> parse_apps(std::string_view text, bool cut);

// Returns "kwin_wayland" for "/usr/bin/kwin_wayland", "c.exe" for "C:\\a b\\c.exe".
std::string_view program_of(std::string_view process_name) noexcept;

using command_tool::add_missing;
using command_tool::Missing;

// Adds why `cell` has no value: its text, or that the tool lacks the column.
void add_missing(std::vector<Missing>& to, FieldSet field, Status code, const GpuCell& cell);

// Leaves `number` unset.
Device identity_of(const GpuRow& row);
bool is_mig_on(const GpuRow& row);

Result<Pool> pool_of(const GpuRow& row, std::vector<Missing>& gone);

// Fields that the table has no column for.
inline constexpr std::uint32_t never_in_table =
    telemetry_field::hotspot_celsius | telemetry_field::energy_joules | telemetry_field::fan_rpm |
    telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes | telemetry_field::window_ns;

// `fields`: telemetry_field bits.
Telemetry telemetry_of(const GpuRow& row, FieldSet fields, std::vector<Missing>& gone);

// Appends each metric with a value. `refused` gets those whose cell has an error other than that
// the GPU does not support the metric.
void metrics_of(const GpuRow& row, std::vector<Metric>& out,
                FunctionRef<void(FieldSet, Status, const GpuCell&)> refused);

}  // namespace hmn::nvidia_smi
