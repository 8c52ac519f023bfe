// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/text/plot.hpp"

namespace hmn::cli {

// Reason for missing values of a command without a process left.
inline constexpr const char* ended_too_early = "it ended before it could be read";

// Host memory at one time.
struct HostSample {
  std::optional<std::uint32_t> processes;
  std::optional<std::uint64_t> resident_bytes;      // sum of all processes
  std::uint64_t largest_bytes = 0;                  // resident, of one process
  std::optional<std::uint64_t> proportional_bytes;  // rarely read, see RunMeter
  std::optional<std::uint64_t> group_bytes;         // memory.current of the control group
  std::string reason;                               // reason for missing values
};

// Memory of one device.
struct DeviceSample {
  std::optional<std::uint64_t> command_bytes;  // used by the command's processes
  bool is_lower_bound = false;                 // some of it could not be read
  bool is_asleep = false;                      // nothing runs there
  std::optional<std::uint64_t> used_bytes;     // by all processes
  bool is_used_lower_bound = false;            // the driver sees a part of it
  std::optional<double> busy_percent;
  std::optional<double> power_watts;
  std::optional<double> energy_joules;
  std::uint64_t age_ns = 0;  // of the oldest value
  std::string reason;        // reason for missing command_bytes
  std::string used_reason;   // reason for missing used_bytes
};

// Line of the timeline.
struct RunSample {
  std::uint64_t offset_ns = 0;  // since the command was started
  std::uint64_t unix_time_ns = 0;
  std::optional<HostSample> host;
  std::vector<DeviceSample> devices;  // in the order of RunMeter::devices(), or empty
};

// Peak and history of a value in bounded memory.
class TrackedValue {
 public:
  // Adds a reading. One without a value is a gap, unless there was nothing to read. A value of some
  // age, which is renewed more seldom than it is read, is that of the time it was taken.
  void add(std::uint64_t offset_ns, const std::optional<std::uint64_t>& bytes, bool is_idle = false,
           std::uint64_t age_ns = 0);

  struct Peak {
    std::uint64_t bytes = 0;
    std::uint64_t offset_ns = 0;
  };
  const std::optional<Peak>& highest() const { return highest_; }
  // Returns the number of values; a gap is none.
  std::uint64_t count() const { return count_; }
  std::uint64_t gaps() const { return gaps_; }
  // Returns the longest time without a value from the start to the end of the run.
  std::uint64_t longest_gap_ns(std::uint64_t end_ns) const;
  const Curve& line() const { return line_; }

 private:
  std::optional<Peak> highest_;
  std::uint64_t count_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t known_until_ns_ = 0;
  std::uint64_t longest_gap_ns_ = 0;
  Curve line_;
};

struct DeviceAccount {
  TrackedValue command;
  TrackedValue used;
  Curve load;                   // percent
  Curve power;                  // watts
  bool is_lower_bound = false;  // the command's value
  bool is_used_lower_bound = false;
  std::string reason;       // reason for the command's missing value
  std::string used_reason;  // reason for the device's missing value
};

// Samples of a run of any length, in bounded memory.
class RunAccount {
 public:
  explicit RunAccount(std::size_t devices) : devices_(devices) {}
  void add(const RunSample& sample);

  const TrackedValue& resident() const { return resident_; }
  const TrackedValue& proportional() const { return proportional_; }
  const TrackedValue& group() const { return group_; }
  // Returns the resident set of the largest process that a sample saw.
  std::uint64_t largest_bytes() const { return largest_bytes_; }
  const std::vector<DeviceAccount>& devices() const { return devices_; }
  // Returns why the host's values are missing.
  const std::string& reason() const { return reason_; }

 private:
  TrackedValue resident_;
  TrackedValue proportional_;
  TrackedValue group_;
  std::uint64_t largest_bytes_ = 0;
  std::vector<DeviceAccount> devices_;
  std::string reason_ = ended_too_early;
};

enum class TimelineForm { json_lines, csv };

// Endings of the names of files, which choose the form.
inline constexpr std::string_view timeline_suffixes[] = {".jsonl", ".ndjson", ".json", ".csv"};
// JSON Lines but for .csv: also for what is not a regular file, whose name says nothing.
TimelineForm choose_timeline_form(std::string_view path);

// Takes in `indexes` the devices in the samples' order.
std::string format_timeline_header(TimelineForm form, const std::vector<std::uint32_t>& indexes);
std::string format_timeline_line(TimelineForm form, const RunSample& sample,
                                 const std::vector<std::uint32_t>& indexes);

}  // namespace hmn::cli
