// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backends/simulated/script.hpp"
#include "model/failure.hpp"
#include "platform/mutex.hpp"

namespace hmn::simulated {

inline constexpr std::size_t most_file_bytes = 16 * 1024 * 1024;

// The machine as one reading finds it.
struct view {
  const machine* now = nullptr;
  std::uint64_t reading = 0;
};

// What has readings of its own.
enum class counter { devices, own_memory, system };

// A machine file, read when it is first needed and never again; the host and the devices of one
// context share it. Any thread may use it.
class machine_file {
 public:
  explicit machine_file(std::string path) : path_(std::move(path)) {}
  // One that needs no reading.
  machine_file(std::string path, result<script> content);

  // A new reading. The machine stays as long as the file does.
  result<view> next(counter of);
  result<view> next_of_process(std::uint32_t pid);
  // What it recorded of a machine's own files, and whether it describes devices; nothing when it
  // cannot be read.
  recorded_machine recorded();
  bool has_devices();
  // The latest reading of the devices.
  result<view> latest();

 private:
  result<void> open();  // with the lock held
  result<script> load();
  [[nodiscard]] view at(std::uint64_t reading) const noexcept;

  const std::string path_;
  platform::mutex lock_;
  std::optional<result<script>> loaded_;
  std::uint64_t loaded_at_ns_ = 0;
  std::array<std::uint64_t, 3> readings_{};
  std::map<std::uint32_t, std::uint64_t> process_readings_;  // of pids that the file knows
};

}  // namespace hmn::simulated
