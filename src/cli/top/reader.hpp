// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/measure/processes.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli::top {

// Values of one GPU at one time.
struct GpuReading {
  Gpu gpu;
  std::optional<hypomnesis::telemetry> values;
  std::optional<double> received_rate;  // PCIe, bytes per second
  std::optional<double> sent_rate;
  std::string missing_rate_reason;
  // Whether memory spills to the host; none: it cannot be measured.
  std::optional<bool> is_spilling;
  bool has_spilled = false;
  std::string missing_spill_reason;
  std::string state_reason;  // reason of a state other than ready
  // HMN_TELEMETRY_HAS_* that are missing, and that the device or its driver does not have.
  std::uint32_t unsupported_fields = 0;
  bool is_used_unsupported = false;  // the same for the memory in use

  bool is_fresh() const;
  bool lacks(std::uint32_t field) const { return (unsupported_fields & field) == field; }
};

// Identity of a process that a reused pid does not share.
struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint32_t device_index = 0;
  std::uint64_t start = 0;  // key or start time; 0: unknown

  auto operator<=>(const ProcessIdentity&) const = default;
};

// Values of a process on one device at one time.
struct ProcessReading : ProcessRow {
  std::optional<double> cpu_percent;  // 100: one core

  ProcessIdentity identity() const {
    return {usage.pid, usage.device_index,
            usage.process_key.value_or(usage.start_unix_ns.value_or(0))};
  }
};

using ProcessReadings = std::vector<ProcessReading>;

struct MachineReading {
  std::uint64_t time_ns = 0;  // hmn_monotonic_ns
  std::uint64_t unix_ns = 0;  // the same time, since 1970
  std::vector<GpuReading> gpus;
  // Shared with the previous reading if this one did not read processes. Never null.
  std::shared_ptr<const ProcessReadings> processes;
  std::uint64_t processes_time_ns = 0;
  bool has_new_processes = false;  // read in this reading
  bool is_process_list_partial = false;     // some processes are not known
  std::string partial_reason;
  std::string missing_cpu_reason;
  std::optional<hypomnesis::system_memory> host;
  std::string missing_gpu_reason;  // empty: a GPU was found
  bool search_failed = false;      // the list of GPUs is unknown
  bool lacks_gpus = false;         // there may be more
  // For reasons of missing values; the second one for those of processes.
  std::shared_ptr<const hypomnesis::snapshot> snapshot, process_snapshot;
};

// Rate of a counter between two readings.
class CounterRate {
 public:
  // Returns units per second since the previous count; none for the first one, when the counter
  // was reset, and when the machine was suspended meanwhile.
  std::optional<double> add(std::optional<std::uint64_t> count, std::uint64_t time_ns);

 private:
  std::optional<std::uint64_t> count_;
  std::uint64_t time_ns_ = 0;
  std::uint64_t suspended_ns_ = 0;  // cli::suspended_ns() at that time
  std::optional<double> rate_;
};

struct ReaderSettings {
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds process_interval{1000};  // of the process list, the most expensive part
  std::chrono::milliseconds deadline{1000};          // of one reading
  std::optional<std::uint32_t> device;               // only this one, with its partitions
  std::optional<UserFilter> user;                    // only this user's processes
};

// Thread that reads the machine at an interval, so that drawing and keys never wait for a driver.
class Reader {
 public:
  // Calls `on_reading` in its thread after each reading.
  Reader(const Session& session, const ReaderSettings& settings,
         std::function<void()> on_reading = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  // Does not wait for a driver.
  ~Reader();

  // Returns the latest reading; none if it was returned before.
  std::unique_ptr<const MachineReading> take();
  // Waits for a reading until that time.
  std::unique_ptr<const MachineReading> wait_until(std::chrono::steady_clock::time_point time);

 private:
  struct WorkerState;
  std::unique_ptr<WorkerState> state_;
};

}  // namespace hmn::cli::top
