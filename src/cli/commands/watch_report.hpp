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
  std::optional<std::uint64_t> start;  // process_start
  bool is_foreign = false;             // pid is from another PID namespace
  bool is_fresh = true;                // used and shared are of this sample
  bool is_candidate = true;            // its name is one that may be chosen
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> shared;
  bool is_lower_bound = false;  // used: a part is not visible
};

// Life of a process: idle is alive without using the device, unknown cannot be determined.
enum class ProcessLife { uses, idle, exited, unknown };

// History of one value.
struct ValueHistory {
  std::optional<std::uint64_t> baseline;
  std::optional<std::uint64_t> last;
  std::optional<std::uint64_t> peak;

  // Returns the change since the last value; none if either is missing.
  std::optional<std::int64_t> add(std::optional<std::uint64_t> now);
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

// Processes followed so far, in the order of appearance; beyond the limit the first one that is no
// longer followed is dropped.
class Watched {
 public:
  static constexpr std::size_t most = 4096;

  WatchedRow add(const ProcessValues& now);
  // Adds a pid missing from the device's list; `start` is of the process that has the pid now.
  WatchedRow add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                        std::optional<std::uint64_t> start);
  void forget_beyond(const std::vector<std::uint32_t>& followed);

  const std::vector<WatchedProcess>& all() const { return all_; }
  std::uint64_t forgotten() const { return forgotten_; }
  std::optional<std::string> name_of(std::uint32_t pid) const;

 private:
  WatchedProcess& of(std::uint32_t pid);

  std::vector<WatchedProcess> all_;
  std::uint64_t forgotten_ = 0;
};

// Returns the pids of the first candidates.
std::vector<std::uint32_t> choose_top(const std::vector<ProcessValues>& rows, std::uint32_t count);

// Time and spill state of one sample of a device.
struct WatchMoment {
  std::uint64_t ms = 0;
  hypomnesis::spill_info spill{};
  std::string text{};  // for people
  std::uint32_t device = 0;
};

struct WatchSample {
  WatchMoment at;
  std::vector<WatchedRow> rows;
};

// What was seen of a device at the end.
struct WatchResult {
  std::uint32_t device = 0;
  hypomnesis::spill_info spill{};
  const Watched* processes = nullptr;
};

// Formats +0 B, +5 MiB, -1.2 GiB; ? if unknown.
std::string change_text(std::optional<std::int64_t> bytes);

// Returns the samples of one time as a table; none if the terminal is too narrow.
std::optional<std::string> watch_table(const std::vector<WatchSample>& all, const Style& as);
std::string watch_header(bool ascii_only);
std::string watch_line(const WatchMoment& at, const WatchedRow& of);
std::string watch_json(const WatchMoment& at, const WatchedRow& of);
// Returns the spills of each device, once where they are the same; of the only one without its
// index.
std::string watch_spills(const std::vector<WatchResult>& all, bool ascii_only, bool is_only);
std::string watch_summary(const std::vector<WatchResult>& all, const Style& as);
std::string watch_summary_json(const WatchResult& of,
                               const std::vector<hypomnesis::episode>& episodes);

}  // namespace hmn::cli
