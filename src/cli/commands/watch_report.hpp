// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/text/output.hpp"

namespace hmn::cli {

// Values of one process in a device's list.
struct ProcessValues {
  std::uint32_t pid = 0;
  std::optional<std::string> name;
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> start;  // read_process_start()
  bool is_foreign = false;             // pid is from another PID namespace
  bool is_fresh = true;                // used and shared were read in this sample
  bool is_candidate = true;            // its name matches, so it may be selected
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> shared;
  bool is_lower_bound = false;  // used: a part is not visible
};

// State of a process. idle: it runs but does not use the device; unknown: it cannot be determined.
enum class ProcessLife { uses, idle, exited, unknown };

// History of one value.
struct ValueHistory {
  std::optional<std::uint64_t> baseline;
  std::optional<std::uint64_t> last;
  std::optional<std::uint64_t> peak;

  // Returns the change since the last value; none if either is missing.
  std::optional<std::int64_t> add(std::optional<std::uint64_t> value);
  bool has_grown_by(std::uint64_t bytes) const { return last && *last >= *baseline + bytes; }
};

struct WatchedProcess {
  std::uint32_t pid = 0;
  std::optional<std::string> name;  // the last known one
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> start;
  bool is_foreign = false;
  ValueHistory used;
  ValueHistory shared;
  bool was_hinted = false;
};

// Process in one sample.
struct WatchedRow {
  std::uint32_t pid = 0;
  ProcessLife life = ProcessLife::uses;
  std::optional<std::string> name;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> shared;
  std::optional<std::int64_t> used_delta;
  std::optional<std::int64_t> shared_delta;
  bool is_lower_bound = false;  // used: a part is not visible
  std::string message;          // for people; mostly empty
};

// Processes followed so far, in order of appearance. Beyond the limit, the oldest one that is no
// longer followed is dropped.
class WatchHistory {
 public:
  static constexpr std::size_t max_processes = 4096;

  WatchedRow add(const ProcessValues& values);
  // Adds a pid missing from the device's list; `start`: that of the process that now has the pid.
  WatchedRow add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                        std::optional<std::uint64_t> start);
  void drop_oldest(const std::vector<std::uint32_t>& followed_pids);

  const std::vector<WatchedProcess>& processes() const { return processes_; }
  std::uint64_t dropped_count() const { return dropped_count_; }
  std::optional<std::string> find_name(std::uint32_t pid) const;

 private:
  WatchedProcess& find_or_add(std::uint32_t pid);

  std::vector<WatchedProcess> processes_;
  std::uint64_t dropped_count_ = 0;
};

// Returns the pids of the first candidates.
std::vector<std::uint32_t> choose_top(const std::vector<ProcessValues>& rows, std::uint32_t count);

// Time and spill state of a device's sample, which all its rows share.
struct SampleHeader {
  std::uint64_t elapsed_ms = 0;
  hypomnesis::spill_info spill{};
  std::string time_text{};  // for people
  std::uint32_t device = 0;
};

struct WatchSample {
  SampleHeader header;
  std::vector<WatchedRow> rows;
};

// Result of watching a device.
struct WatchResult {
  std::uint32_t device = 0;
  hypomnesis::spill_info spill{};
  const WatchHistory* history = nullptr;
};

// Formats +0 B, +5 MiB, -1.2 GiB; ? if unknown.
std::string format_change(std::optional<std::int64_t> bytes);

// Formats samples taken at the same time as a table; none if the terminal is too narrow.
std::optional<std::string> format_watch_table(const std::vector<WatchSample>& samples,
                                              const Style& style);
std::string format_watch_header(bool ascii_only);
std::string format_watch_line(const SampleHeader& header, const WatchedRow& row);
std::string format_watch_json(const SampleHeader& header, const WatchedRow& row);
// Formats the spills of all devices; equal ones are merged. `is_only`: there is one device, and its
// index is omitted.
std::string format_watch_spills(const std::vector<WatchResult>& results, bool ascii_only,
                                bool is_only);
std::string format_watch_summary(const std::vector<WatchResult>& results, const Style& style);
std::string format_watch_summary_json(const WatchResult& result,
                                      const std::vector<hypomnesis::episode>& episodes);

}  // namespace hmn::cli
