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

struct gpu_cell {
  bool is_asked = false;  // the output has this column
  std::string text;
  std::string unit;
};

struct gpu_row {
  std::array<gpu_cell, static_cast<std::size_t>(gpu_column::count)> cells;

  [[nodiscard]] const gpu_cell& operator[](gpu_column c) const {
    return cells[static_cast<std::size_t>(c)];
  }
  // Text of a cell that has a value; "" for any other.
  [[nodiscard]] std::string_view known(gpu_column c) const;
};

struct app_row {
  std::string gpu_uuid;  // empty: not reported
  text<32> gpu_bus_id;
  std::uint32_t pid = 0;  // 0: the tool lists no processes of this GPU, for the reason in
                          // `why_none`
  status why_none = status::ok;
  measured<std::uint64_t> used;
  hmn::name_state name_state = hmn::name_state::unknown;
  std::string name;  // program name without its folder
};

inline constexpr std::size_t most_gpus = 1024;
inline constexpr std::size_t most_apps = 65'536;

struct parsed {
  bool is_table = false;  // a header was found
  stray_lines strays;
  bool is_truncated = false;  // more than `most_gpus` or `most_apps`
  std::size_t count = 0;      // of rows that were taken out of the answer
};

template <class Row>
struct answer : parsed {
  std::vector<Row> rows;
};

// `cut`: the text was truncated, so that its last line may be incomplete.
answer<gpu_row> parse_gpus(std::string_view text, bool cut);
answer<app_row> parse_apps(std::string_view text, bool cut);

// Returns "kwin_wayland" for "/usr/bin/kwin_wayland", "c.exe" for "C:\\a b\\c.exe".
std::string_view program_of(std::string_view process_name) noexcept;

using command_tool::add_missing;
using command_tool::missing;

// Adds why `cell` has no value: its text, or that the tool lacks the column.
void add_missing(std::vector<missing>& to, FieldSet field, status code, const gpu_cell& cell);

// Leaves `number` unset.
device identity_of(const gpu_row& row);
bool is_mig_on(const gpu_row& row);

result<pool> pool_of(const gpu_row& row, std::vector<missing>& gone);

// Fields that the table has no column for.
inline constexpr std::uint32_t never_in_table =
    telemetry_field::hotspot_celsius | telemetry_field::energy_joules | telemetry_field::fan_rpm |
    telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes | telemetry_field::window_ns;

// `fields`: telemetry_field bits.
telemetry telemetry_of(const gpu_row& row, FieldSet fields, std::vector<missing>& gone);

// Appends each metric with a value. `refused` gets those whose cell has an error other than that
// the GPU does not support the metric.
void metrics_of(const gpu_row& row, std::vector<metric>& out,
                function_ref<void(FieldSet, status, const gpu_cell&)> refused);

}  // namespace hmn::nvidia_smi
