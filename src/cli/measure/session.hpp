// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/recorded_workloads.hpp"

namespace hmn::cli {

// Returns the result of a library call; none, and `reason`, if it fails.
template <class Call>
auto attempt(Call call, std::string* reason = nullptr) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const hypomnesis::error& error) {
    if (reason != nullptr) *reason = error.what();
    return std::nullopt;
  }
}

struct SessionSettings {
  std::uint32_t timeout_ms = 0;
  // Longest search for devices while none is known: what hangs must not delay what answers.
  std::uint32_t search_ms = 0;
  std::uint32_t deadline_ms = 0;  // of one reading, unless it has its own
  bool has_timeout = false;       // given by the user: a reading may take as long
  bool trace = false;
  std::string machine;  // path of a machine file; empty: this machine
  bool record = false;
  bool lists_devices = true;  // before its first reading: see Session::device_list()
  bool gpus_only = false;     // leaves out devices of other classes
};

// Devices as they were listed, or why the search for them failed.
struct DeviceList {
  std::vector<hypomnesis::device> devices;
  std::optional<std::string> failure_reason;
};

constexpr auto everything =
    hypomnesis::part::memory | hypomnesis::part::system | hypomnesis::part::devices |
    hypomnesis::part::pools | hypomnesis::part::self | hypomnesis::part::processes |
    hypomnesis::part::telemetry | hypomnesis::part::metrics | hypomnesis::part::groups;

// Use of the library in one run of the command. Failures throw hypomnesis::error, except for wrong
// arguments of the user.
class Session {
 public:
  static Expected<Session> open(const SessionSettings& settings);

  const hypomnesis::context& library() const { return library_; }
  // Returns how long a reading may take: what hangs must not delay what answers, unless the user
  // has given a timeout or already the list of devices took long.
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  std::chrono::milliseconds reading_timeout() const;
  // Returns the devices, listed within the timeout at the first call, in which drivers are opened.
  const DeviceList& device_list() const;
  // Takes a snapshot within reading_timeout() less `elapsed`; library().take serves commands
  // that run longer.
  hypomnesis::snapshot take(hypomnesis::snapshot_options options,
                            std::chrono::milliseconds elapsed = {}) const;
  // Takes a snapshot in about the time that the list of devices took: what hangs must not hold up
  // the command that waits for it.
  hypomnesis::snapshot take_briefly(hypomnesis::snapshot_options options) const;
  bool is_over() const { return Clock::now() >= deadline_; }
  // Begins the timeout again, for the next sample of a command that goes on.
  void restart_timeout() const { deadline_ = Clock::now() + timeout_; }
  // Takes a snapshot after listing the devices, unless they are, so that a device that hangs then
  // costs only its readings, not the list. Prints the driver calls of both if traced.
  hypomnesis::snapshot collect(const hypomnesis::snapshot_options& options) const;
  // Returns none if this build lacks the source.
  std::optional<hypomnesis::backend_info> backend(hypomnesis::backend_id id) const;
  // Returns none where processes cannot be looked up, as without /proc.
  std::optional<bool> has_ended(std::uint32_t pid) const;
  // Returns none unless a machine file replaces this machine.
  std::optional<hypomnesis::backend_info> simulation() const;
  // Tests for a machine file without a reading, which it would count.
  bool is_simulated() const { return is_simulated_; }
  // Returns the workload that a process' control groups name, of this machine or as recorded.
  std::optional<procfs::Workload> workload(const hypomnesis::usage& row) const;

 private:
  using Clock = std::chrono::steady_clock;
  explicit Session(const SessionSettings& settings);
  hypomnesis::snapshot list_devices(hypomnesis::part parts) const;
  hypomnesis::snapshot list_until_complete(hypomnesis::snapshot_options options) const;
  void report_search_timeout(const hypomnesis::snapshot& snapshot) const;

  hypomnesis::context library_;
  std::chrono::milliseconds timeout_;
  mutable Clock::time_point deadline_;
  std::chrono::milliseconds search_;
  bool has_timeout_;
  mutable std::optional<DeviceList> device_list_;
  mutable std::chrono::milliseconds listing_time_{};  // time that listing took, if it succeeded
  bool is_traced_;
  bool is_simulated_;
  std::string machine_;                                 // path of a simulated one
  mutable std::optional<RecordedWorkloads> workloads_;  // read at the first request
};

// Returns why a snapshot lists no device, in one line.
std::string explain_no_gpu(const Session& session, const hypomnesis::snapshot& snapshot);

// Returns why the search failed; none if it found a device, or that there is none.
std::optional<std::string> explain_search_failure(const hypomnesis::snapshot& snapshot);
bool has_search_failed(const hypomnesis::snapshot& snapshot);
// Returns whether a driver was still being opened, or had not listed its devices.
bool is_late(const hypomnesis::snapshot& snapshot);

// Returns whether there may be more devices than are listed. A device that is listed and cannot be
// read is not missing, whatever its partitions.
bool lacks_devices(const std::vector<hypomnesis::diagnostic>& diagnostics,
                   const std::function<hypomnesis::run_state(std::uint32_t index)>& get_state);
bool lacks_devices(const hypomnesis::snapshot& snapshot);

// Checks for a device, which the command needs; returns why it cannot begin. `prefix` precedes the
// reason.
std::optional<Failure> check_for_gpus(const Session& session, const std::string& prefix);

}  // namespace hmn::cli
