// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/measure/pace.hpp"
#include "cli/measure/run_record.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/command_group.hpp"
#include "cli/system/process_tree.hpp"

namespace hmn::cli {

// Peak device memory of single processes, by the driver's own account of each.
struct kept_peak {
  std::optional<std::uint64_t> largest_bytes;  // absent: unknown for some process
  std::uint32_t processes = 0;                 // with an account
  hypomnesis::backend_id backend{};            // source of the account
  std::string why;                             // reason for missing largest_bytes
};

// Returns whether the driver no longer lists the row's process and has only kept its account.
bool is_account_only(const hypomnesis::usage& row) noexcept;

// Peaks of a command's processes on one device, from their rows while it runs and once after its
// end: a driver with accounts keeps them until then.
class process_peaks {
 public:
  // Records a process; row: its use of the device, NULL: none. A stale row only shows that it used
  // the device.
  void add(const process_tree::member& who, const hypomnesis::usage* row);

  struct request {
    const session& in;
    std::uint32_t device_index;
    std::uint64_t started_unix_ns;                     // of the command
    const std::vector<process_tree::member>& members;  // still running
    std::chrono::steady_clock::time_point until;
  };
  kept_peak end(const request& of) const;

 private:
  struct seen {
    std::uint64_t start = 0;  // from the tree
    bool has_used = false;
    bool has_account = false;
    std::uint64_t used_bytes = 0;  // maximum
  };
  enum class kind { none, bytes, unknown };
  struct account {
    kind what = kind::unknown;
    std::uint64_t bytes = 0;
    hypomnesis::backend_id backend{};
    std::string why{};  // of a failed reading
  };

  static account none_of(const seen& known) {
    return {known.has_used ? kind::unknown : kind::none};
  }
  static account account_in(const request& of, const hypomnesis::usage& row, const seen& known);
  static account read(const request& of, std::uint32_t pid, const seen& known);

  std::map<std::uint32_t, seen> all_;  // by pid
  bool is_partial_ = false;            // a process that used the device was dropped
};

// Processes of a command that are still running at its end.
struct remaining_processes {
  std::optional<std::uint32_t> count;          // none: unknown
  std::optional<std::uint64_t> largest_bytes;  // peak of the largest until now, if known
};

std::uint64_t unix_time_ns() noexcept;

// Energy counter of a device.
struct energy_reading {
  std::optional<double> joules;
  std::string why;  // reason for missing joules, if known
};

// Device to watch, in its state before the command was started: one that has answered only since
// has no values of then.
struct watched_device {
  gpu before;
  bool lists_children = false;  // processes missing from the driver's list use 0
  bool needs_list = false;      // its processes may share memory
  std::string why_not;
  bool needs_own = true;  // not read yet, or asleep: the command may wake it
  energy_reading energy;
};

// Field of a process's memory.
struct memory_field {
  hypomnesis::process_memory_field field;
  std::optional<std::uint64_t> hypomnesis::process_memory::*bytes;
};

// Reads a command's use of host memory and of each device.
class run_meter {
 public:
  using clock = pace::clock;

  // Watches all devices, or the one with that index.
  run_meter(const session& in, std::optional<std::uint32_t> only, std::chrono::nanoseconds interval,
            std::chrono::milliseconds deadline)
      : in_(in),
        only_(only),
        interval_(interval),
        host_pace_(interval),
        device_pace_(interval),
        proportional_pace_(interval),
        deadline_(deadline) {}

  // Finds the devices, as far as they answer; opens the drivers.
  void find_devices();
  // Begins after the command has been started as `pid`.
  void watch(process_tree& tree, std::uint32_t pid, command_group* group);
  // Reads whatever is due, or everything; finds devices whose driver has answered only now.
  enum class extent { due, all };
  run_sample read(extent wanted = extent::due);
  // Returns whether there may be more devices(), each of them in every sample.
  bool is_searching() const { return is_searching_; }
  clock::time_point next() const;
  // Finds what the command has left running.
  remaining_processes find_remaining();
  // Ends the measurement; returns the devices' energy counters.
  std::vector<energy_reading> end();
  // Returns the peaks that the drivers keep for its processes, after end().
  std::vector<kept_peak> peaks(std::uint64_t started_unix_ns);

  // Returns why the command's processes are unknown; empty: they are known.
  const std::string& why_no_processes() const { return tree_->why_not(); }
  const std::vector<watched_device>& devices() const { return devices_; }
  // Returns why it is not known which devices there are; none: it is known.
  const std::optional<std::string>& why_no_devices() const { return why_no_devices_; }
  // Returns the time between samples, unless their cost makes them rarer.
  std::chrono::nanoseconds interval() const { return interval_; }

 private:
  host_sample read_host();
  void record_members();
  void add_proportional(clock::time_point now, host_sample& to);
  std::vector<device_sample> read_devices();
  enum class cost { with_energy, quick };
  void add_devices(const hypomnesis::snapshot& from);
  std::optional<hypomnesis::snapshot_values> take(hypomnesis::part collect, cost how,
                                                  std::string& why);
  void refresh_members();
  struct process_sum {
    std::optional<std::uint64_t> bytes;
    std::uint64_t largest_bytes = 0;  // of one process
  };
  process_sum sum_of(const memory_field& of, std::string* why) const;
  bool add_one_by_one(std::size_t i, device_sample& to);
  void add_from_list(const hypomnesis::snapshot_values& from, std::size_t i, device_sample& to);

  const session& in_;
  std::optional<std::uint32_t> only_;
  std::vector<watched_device> devices_;
  std::optional<std::string> why_no_devices_;
  bool is_searching_ = true;
  std::vector<process_peaks> peaks_;  // of each device
  std::chrono::nanoseconds interval_;
  pace host_pace_;
  pace device_pace_;
  pace proportional_pace_;
  bool have_shared_ = false;  // there were several processes at some time
  std::chrono::milliseconds deadline_;
  process_tree* tree_ = nullptr;
  command_group* group_ = nullptr;
  clock::time_point begun_{};
};

}  // namespace hmn::cli
