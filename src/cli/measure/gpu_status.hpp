// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/measure/processes.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"

namespace hmn::cli {

// Values in the row of a GPU.
enum class GpuValue { load, used, total, temperature, power, users };
inline constexpr std::size_t gpu_value_count = static_cast<std::size_t>(GpuValue::users) + 1;

// Why a value is missing.
struct Absence {
  bool is_missing = false;
  bool is_unsupported = false;  // the device or its driver does not have it
  bool is_pending = false;      // a later reading has it
  std::string why;
};

// One GPU as a snapshot has it, with who uses it.
struct GpuStatus {
  Gpu of;
  std::optional<hypomnesis::telemetry> telemetry;
  std::vector<UsageGroup> users;       // the greatest sum first
  std::vector<std::string> processes;  // names, each once, the greatest first
  std::array<Absence, gpu_value_count> absences;
  std::string why_state;            // reason of a state_of
  std::vector<std::string> doubts;  // why sums of users are lower bounds

  const Absence& why_missing(GpuValue which) const {
    return absences[static_cast<std::size_t>(which)];
  }
};

// Returns "asleep", "lost", "hung" or "unreadable"; none for a device that can be read.
std::optional<std::string_view> state_of(const Gpu& of) noexcept;
// Returns the used memory of the main pool.
std::optional<std::uint64_t> used_bytes_of(const Gpu& of) noexcept;

// Snapshots of one reading: with devices and pools, and later with telemetry and processes.
struct GpuSnapshots {
  const hypomnesis::snapshot& memory;
  const hypomnesis::snapshot& further;
};

// Returns the GPUs of a reading.
std::vector<GpuStatus> statuses_of(const Session& in, const GpuSnapshots& from);

// Returns the reasons of missing values, a line for each: "GPU 0-3: power: not permitted". Values
// that are not supported have none.
std::vector<std::string> reason_lines(const std::vector<GpuStatus>& all);

// Texts of one GPU's row. A missing value has its sign, and is empty next to the word of a device
// that cannot be read.
enum class Spacing { roomy, compact };  // "61 °C", "61" below a title with the unit

// Returns the name without that of the vendor; of a partition what its GPU's name does not have:
// "GeForce RTX 4090", "MIG 3g.20gb". "?": it has none.
std::string short_name(const Gpu& of, const Gpu* parent = nullptr);

// Returns "83 %", or the word of a device that cannot be read: "asleep".
Table::Cell load_cell(const GpuStatus& of, Spacing with);
// Returns "14.1 / 24.0 GiB".
std::string amount_text(std::string_view mark, std::optional<std::uint64_t> used,
                        std::optional<std::uint64_t> total, Spacing with,
                        std::string_view sign_of_used = "?");
Table::Cell memory_cell(const GpuStatus& of, Spacing with);
Table::Cell temperature_cell(const GpuStatus& of, Spacing with, const Style& as);
// Returns "287 / 450 W": the draw and its limit.
Table::Cell power_cell(const GpuStatus& of, Spacing with);

enum class ShownUsers { all, first, sum };  // all, at least the first one, at least their sum
// Returns "alice 12.8, bob 0.3": users and GiB. Shorter forms add up the last ones.
Table::Cell users_cell(const GpuStatus& of, ShownUsers which, const Style& as);

}  // namespace hmn::cli
