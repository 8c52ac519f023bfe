// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/failure.hpp"
#include "model/host_memory.hpp"
#include "platform/windows/system.hpp"

namespace hmn::os {

// Converts to nanoseconds since 1970; returns none for an earlier time.
constexpr std::optional<std::uint64_t> convert_file_time(const FILETIME& time) noexcept {
  constexpr std::uint64_t epoch = 116'444'736'000'000'000;  // 1970, in 100 ns since 1601
  const std::uint64_t units = std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
  if (units < epoch) return std::nullopt;
  return (units - epoch) * 100;
}

// Reads the start time of a process; returns none if the system does not report it.
std::optional<std::uint64_t> read_start_unix_ns(HANDLE process) noexcept;

// Calls NtQueryInformationProcess, if the system has it. `required_size` (may be null): size of the
// result, even if it did not fit.
bool query_process(HANDLE process, ULONG information_class, void* buffer, ULONG size,
                   ULONG* required_size) noexcept;

// A handle that stays open, so that all values are of one process even if its pid is reused.
class ProcessHandle {
 public:
  // no_process: it does not exist, or has exited while others still hold a handle. permission: the
  // system refuses access.
  static Result<ProcessHandle> open(std::uint32_t pid);

  [[nodiscard]] HANDLE get() const noexcept { return handle_.get(); }
  // Returns a path such as "C:\Tools\name.exe"; empty if there is none.
  [[nodiscard]] std::string image_path() const;

 private:
  explicit ProcessHandle(platform::Handle handle) noexcept : handle_(std::move(handle)) {}

  platform::Handle handle_;
};

// Reads the process's original command line, cut if it is long; empty if unknown.
std::string read_command_line(HANDLE process);

// Counters of one process, in bytes.
struct ProcessCounters {
  std::uint64_t working_set = 0;
  std::uint64_t peak_working_set = 0;
  std::optional<std::uint64_t> private_usage;
  std::optional<std::uint64_t> peak_private_usage;
  std::optional<std::uint64_t> private_working_set;  // since Windows 10 22H2
};

// Returns false with GetLastError set.
bool read_counters(HANDLE process, ProcessCounters& counters) noexcept;

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept;

Result<void> read_process_memory(HANDLE process, FieldSet fields, ProcessMemory& memory);

}  // namespace hmn::os
