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
struct process_values {
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
enum class process_life { uses, idle, exited, unknown };

// History of one value.
struct value_history {
  std::optional<std::uint64_t> baseline;
  std::optional<std::uint64_t> last;
  std::optional<std::uint64_t> peak;

  // Returns the change since the last value; none if either is missing.
  std::optional<std::int64_t> add(std::optional<std::uint64_t> now);
  bool has_grown_by(std::uint64_t bytes) const { return last && *last >= *baseline + bytes; }
};

struct watched_process {
  std::uint32_t pid = 0;
  std::optional<std::string> name;  // the last known one
  std::optional<std::uint64_t> start_unix_ns;
  std::optional<std::uint64_t> start;
  bool is_foreign = false;
  value_history used;
  value_history shared;
  bool was_hinted = false;
};

// Process in one sample.
struct watched_row {
  std::uint32_t pid = 0;
  process_life life = process_life::uses;
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
class watched {
 public:
  static constexpr std::size_t most = 4096;

  watched_row add(const process_values& now);
  // Adds a pid missing from the device's list; `start` is of the process that has the pid now.
  watched_row add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                         std::optional<std::uint64_t> start);
  void forget_beyond(const std::vector<std::uint32_t>& followed);

  const std::vector<watched_process>& all() const { return all_; }
  std::uint64_t forgotten() const { return forgotten_; }
  std::optional<std::string> name_of(std::uint32_t pid) const;

 private:
  watched_process& of(std::uint32_t pid);

  std::vector<watched_process> all_;
  std::uint64_t forgotten_ = 0;
};

// Returns the pids of the first candidates.
std::vector<std::uint32_t> choose_top(const std::vector<process_values>& rows, std::uint32_t count);

// Time and spill state of one sample of a device.
struct watch_moment {
  std::uint64_t ms = 0;
  hypomnesis::spill_info spill{};
  std::string text{};  // for people
  std::uint32_t device = 0;
};

struct watch_sample {
  watch_moment at;
  std::vector<watched_row> rows;
};

// What was seen of a device at the end.
struct watch_result {
  std::uint32_t device = 0;
  hypomnesis::spill_info spill{};
  const watched* processes = nullptr;
};

// Formats +0 B, +5 MiB, -1.2 GiB; ? if unknown.
std::string change_text(std::optional<std::int64_t> bytes);

// Returns the samples of one time as a table; none if the terminal is too narrow.
std::optional<std::string> watch_table(const std::vector<watch_sample>& all, const style& as);
std::string watch_header(bool ascii_only);
std::string watch_line(const watch_moment& at, const watched_row& of);
std::string watch_json(const watch_moment& at, const watched_row& of);
// Returns the spills of each device, once where they are the same; of the only one without its
// index.
std::string watch_spills(const std::vector<watch_result>& all, bool ascii_only, bool is_only);
std::string watch_summary(const std::vector<watch_result>& all, const style& as);
std::string watch_summary_json(const watch_result& of,
                               const std::vector<hypomnesis::episode>& episodes);

}  // namespace hmn::cli
