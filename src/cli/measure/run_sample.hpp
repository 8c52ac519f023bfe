// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hmn::cli {

// Reason for missing values of a command without a process left.
inline constexpr const char* ended_too_early = "it ended before it could be read";

// Host memory at one time.
struct host_sample {
  std::optional<std::uint32_t> processes;
  std::optional<std::uint64_t> resident_bytes;      // sum of all processes
  std::optional<std::uint64_t> proportional_bytes;  // rarely read, see run_meter
  std::optional<std::uint64_t> group_bytes;         // memory.current of the control group
  std::string why;                                  // reason for missing values
};

// Memory of one device.
struct device_sample {
  std::optional<std::uint64_t> command_bytes;  // used by the command's processes
  bool is_lower_bound = false;                 // some of it could not be read
  bool is_asleep = false;                      // nothing runs there
  std::optional<std::uint64_t> used_bytes;     // by all processes
  std::optional<double> busy_percent;
  std::optional<double> power_watts;
  std::optional<double> energy_joules;
  std::uint64_t age_ns = 0;  // of the oldest value
  std::string why;           // reason for missing command_bytes
  std::string why_used;      // reason for missing used_bytes
};

// Line of the timeline.
struct run_sample {
  std::uint64_t offset_ns = 0;  // since the command was started
  std::uint64_t unix_time_ns = 0;
  std::optional<host_sample> host;
  std::vector<device_sample> devices;  // in the order of run_meter::devices, or empty
};

}  // namespace hmn::cli
