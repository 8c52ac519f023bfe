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
  std::string reason;
};

// A GPU in a snapshot, with its users.
struct GpuStatus {
  Gpu gpu;
  std::optional<hypomnesis::telemetry> telemetry;
  std::vector<UsageGroup> users;       // the greatest sum first
  std::vector<std::string> processes;  // names, each once, the greatest first
  std::array<Absence, gpu_value_count> absences;
  std::string state_reason;         // reason of a state other than ready
  std::vector<std::string> doubts;  // why sums of users are lower bounds

  const Absence& absence(GpuValue value) const { return absences[static_cast<std::size_t>(value)]; }
};

// Returns "asleep", "lost", "hung" or "unreadable"; none for a device that can be read.
std::optional<std::string_view> describe_state(const Gpu& gpu) noexcept;
// Returns the used memory of the main pool.
std::optional<std::uint64_t> get_used_bytes(const Gpu& gpu) noexcept;

// Snapshots of one reading: with devices and pools, and later with telemetry and processes.
struct GpuSnapshots {
  const hypomnesis::snapshot& memory;
  const hypomnesis::snapshot& activity;
};

// Returns the GPUs of a reading.
std::vector<GpuStatus> make_statuses(const Session& session, const GpuSnapshots& snapshots);

// Returns the reasons of missing values, a line for each: "GPU 0-3: power: not permitted". Values
// that are not supported have none.
std::vector<std::string> format_reason_lines(const std::vector<GpuStatus>& statuses);

// Texts of one GPU's row. A missing value has its sign, and is empty next to the word of a device
// that cannot be read.
enum class Spacing { roomy, compact };  // "61 °C", "61" below a title with the unit

// Returns the name without that of the vendor; of a partition what its GPU's name does not have:
// "GeForce RTX 4090", "MIG 3g.20gb". "?": it has none.
std::string shorten_name(const Gpu& gpu, const Gpu* parent = nullptr);

// Returns "83 %", or the word of a device that cannot be read: "asleep".
Table::Cell format_load(const GpuStatus& status, Spacing spacing);
// Returns "14.1 / 24.0 GiB".
std::string format_amount(std::string_view mark, std::optional<std::uint64_t> used,
                          std::optional<std::uint64_t> total, Spacing spacing,
                          std::string_view missing_sign = "?");
Table::Cell format_memory(const GpuStatus& status, Spacing spacing);
Table::Cell format_temperature(const GpuStatus& status, Spacing spacing, const Style& style);
// Returns "287 / 450 W": the draw and its limit.
Table::Cell format_power(const GpuStatus& status, Spacing spacing);

enum class UserDetail { all, first, sum };  // all, at least the first one, at least their sum
// Returns "alice 12.8, bob 0.3": users and GiB. Shorter forms add up the last ones.
Table::Cell format_users(const GpuStatus& status, UserDetail detail, const Style& style);

}  // namespace hmn::cli
