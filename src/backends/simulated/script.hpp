// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A machine and its timed changes, constant once read.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"
#include "backends/simulated/recorded_machine.hpp"
#include "model/failure.hpp"
#include "platform/mutex.hpp"

namespace hmn::simulated {

inline constexpr std::size_t max_changes = 1000;

// When a change happens: one of the two is set.
struct ChangeTime {
  std::optional<std::uint64_t> at_reading;
  std::optional<std::uint64_t> after_ms;
};

class MachineScript {
 public:
  // Returns the machine at that time. A change applies once its time has come and all earlier
  // changes apply.
  [[nodiscard]] const Machine& machine_at(std::uint64_t reading,
                                          std::uint64_t elapsed_ms) const noexcept;
  // Returns the recording of a machine's own files; empty if none.
  [[nodiscard]] const RecordedMachine& recorded_machine() const noexcept {
    return recorded_machine_;
  }
  [[nodiscard]] const Machine& initial_machine() const noexcept { return states_.front(); }
  // Whether any state of the host has the process.
  [[nodiscard]] bool has_process(std::uint32_t pid) const noexcept;

 private:
  friend std::variant<MachineScript, Problem> read_script(std::string_view text,
                                                          std::uint32_t self_pid);

  std::vector<Machine> states_;
  RecordedMachine recorded_machine_;
  std::vector<ChangeTime> change_times_;  // [n]: from states_[n] to states_[n + 1]
};

std::variant<MachineScript, Problem> read_script(std::string_view text, std::uint32_t self_pid);

inline constexpr std::size_t max_file_bytes = 16 * 1024 * 1024;

// The machine as one reading sees it.
struct MachineView {
  const Machine* machine = nullptr;
  std::uint64_t reading = 0;
};

// Calls that count their own readings.
enum class Counter { devices, own_memory, system };

// A machine file, which is read on first use and never again; the host and the devices of one
// context share it. Thread-safe.
class MachineFile {
 public:
  explicit MachineFile(std::string path) : path_(std::move(path)) {}
  // Uses the content instead of reading a file.
  MachineFile(std::string path, Result<MachineScript> content);

  // Begins a reading. The machine lives as long as this object.
  Result<MachineView> begin_reading(Counter counter);
  Result<MachineView> begin_process_reading(std::uint32_t pid);
  // Returns the recording of a machine's files, which is empty if the file is unreadable, and
  // whether it has devices.
  RecordedMachine recorded_machine();
  bool has_devices();
  // Returns the latest reading of the devices.
  Result<MachineView> latest();

 private:
  Result<void> ensure_loaded();  // with the lock held
  Result<MachineScript> load();
  [[nodiscard]] MachineView view_at(std::uint64_t reading) const noexcept;

  const std::string path_;
  platform::Mutex mutex_;
  std::optional<Result<MachineScript>> script_;
  std::uint64_t load_time_ns_ = 0;
  std::array<std::uint64_t, 3> readings_{};
  std::map<std::uint32_t, std::uint64_t> process_readings_;  // of pids in the file
};

}  // namespace hmn::simulated
