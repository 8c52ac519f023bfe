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
struct DriverPeak {
  std::optional<std::uint64_t> largest_bytes;  // absent: unknown for some process
  std::uint32_t processes = 0;                 // with an account
  hypomnesis::backend_id backend{};            // source of the account
  std::string reason;                          // reason for missing largest_bytes
};

// Returns whether the driver no longer lists the row's process and has only kept its account.
bool is_account_only(const hypomnesis::usage& row) noexcept;

// Peaks of a command's processes on one device, from their rows while it runs and once after its
// end: a driver with accounts keeps them until then.
class ProcessPeaks {
 public:
  // Records a process; row: its use of the device, NULL: none. A stale row only shows that it used
  // the device.
  void add(const ProcessTree::Member& member, const hypomnesis::usage* row);

  struct Request {
    const Session& session;
    std::uint32_t device_index;
    std::uint64_t started_unix_ns;                    // of the command
    const std::vector<ProcessTree::Member>& members;  // still running
    std::chrono::steady_clock::time_point deadline;
  };
  DriverPeak finish(const Request& request) const;

 private:
  struct SeenProcess {
    std::uint64_t start = 0;  // from the tree
    bool has_used = false;
    bool has_account = false;
    std::uint64_t used_bytes = 0;  // maximum
  };
  enum class Kind { none, bytes, unknown };
  struct Account {
    Kind kind = Kind::unknown;
    std::uint64_t bytes = 0;
    hypomnesis::backend_id backend{};
    std::string reason{};  // of a failed reading
  };

  static Account missing_account(const SeenProcess& process) {
    return {process.has_used ? Kind::unknown : Kind::none};
  }
  static Account find_account(const Request& request, const hypomnesis::usage& row,
                              const SeenProcess& process);
  static Account read_account(const Request& request, std::uint32_t pid,
                              const SeenProcess& process);

  std::map<std::uint32_t, SeenProcess> processes_;  // by pid
  bool is_partial_ = false;                         // a process that used the device was dropped
};

// Processes of a command that are still running at its end.
struct RemainingProcesses {
  std::optional<std::uint32_t> count;          // none: unknown
  std::optional<std::uint64_t> largest_bytes;  // peak of the largest until now, if known
};

std::uint64_t unix_time_ns() noexcept;

// Energy counter of a device.
struct EnergyReading {
  std::optional<double> joules;
  std::string reason;  // reason for missing joules, if known
};

// Device to watch, in its state before the command was started: one that has answered only since
// has no values of then.
struct WatchedDevice {
  Gpu before;
  bool lists_children = false;  // processes missing from the driver's list use 0
  bool needs_list = false;      // its processes may share memory
  std::string reason;
  bool needs_own_usage = true;  // not read yet, or asleep: the command may wake it
  EnergyReading energy;
};

// Field of a process's memory.
struct MemoryField {
  hypomnesis::process_memory_field field;
  std::optional<std::uint64_t> hypomnesis::process_memory::*bytes;
};

// Reads a command's use of host memory and of each device.
class RunMeter {
 public:
  using Clock = Pace::Clock;

  // Watches all devices, or the one with that index.
  RunMeter(const Session& session, std::optional<std::uint32_t> device_index,
           std::chrono::nanoseconds interval, std::chrono::milliseconds deadline)
      : session_(session),
        device_index_(device_index),
        interval_(interval),
        host_pace_(interval),
        device_pace_(interval),
        proportional_pace_(interval),
        deadline_(deadline) {}

  // Finds the devices, as far as they answer; opens the drivers.
  void find_devices();
  // Begins after the command has been started as `pid`.
  void watch(ProcessTree& tree, std::uint32_t pid, CommandGroup* group);
  // Reads whatever is due, or everything; finds devices whose driver has answered only now.
  enum class Extent { due, all };
  RunSample read(Extent extent = Extent::due);
  // Returns whether there may be more devices(), each of them in every sample.
  bool is_searching() const { return is_searching_; }
  Clock::time_point next() const;
  // Finds what the command has left running.
  RemainingProcesses find_remaining();
  // Ends the measurement; returns the devices' energy counters.
  std::vector<EnergyReading> finish();
  // Returns the peaks that the drivers keep for its processes, after end().
  std::vector<DriverPeak> read_peaks(std::uint64_t started_unix_ns);

  // Returns why the command's processes are unknown; empty: they are known.
  const std::string& no_processes_reason() const { return tree_->error(); }
  const std::vector<WatchedDevice>& devices() const { return devices_; }
  // Returns why it is not known which devices there are; none: it is known.
  const std::optional<std::string>& no_devices_reason() const { return no_devices_reason_; }
  // Returns the time between samples, unless their cost makes them rarer.
  std::chrono::nanoseconds interval() const { return interval_; }

 private:
  HostSample read_host();
  void record_members();
  void add_proportional(Clock::time_point now, HostSample& sample);
  std::vector<DeviceSample> read_devices();
  enum class Cost { with_energy, quick };
  void add_devices(const hypomnesis::snapshot& snapshot);
  std::optional<hypomnesis::snapshot_values> take_snapshot(hypomnesis::part parts, Cost cost,
                                                           std::string& reason);
  void refresh_members();
  struct ProcessSum {
    std::optional<std::uint64_t> bytes;
    std::uint64_t largest_bytes = 0;  // of one process
  };
  ProcessSum sum_members(const MemoryField& memory, std::string* reason) const;
  bool add_one_by_one(std::size_t position, DeviceSample& sample);
  void add_from_list(const hypomnesis::snapshot_values& snapshot, std::size_t position,
                     DeviceSample& sample);

  const Session& session_;
  std::optional<std::uint32_t> device_index_;
  std::vector<WatchedDevice> devices_;
  std::optional<std::string> no_devices_reason_;
  bool is_searching_ = true;
  std::vector<ProcessPeaks> peaks_;  // of each device
  std::chrono::nanoseconds interval_;
  Pace host_pace_;
  Pace device_pace_;
  Pace proportional_pace_;
  bool had_several_processes_ = false;  // there were several processes at some time
  std::chrono::milliseconds deadline_;
  ProcessTree* tree_ = nullptr;
  CommandGroup* group_ = nullptr;
  Clock::time_point start_{};
};

}  // namespace hmn::cli
