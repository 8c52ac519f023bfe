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

// Nanoseconds since 1970; nothing for an earlier time.
constexpr std::optional<std::uint64_t> unix_ns(const FILETIME& t) noexcept {
  constexpr std::uint64_t epoch = 116'444'736'000'000'000;  // 1970, in 100 ns since 1601
  const std::uint64_t units = std::uint64_t{t.dwHighDateTime} << 32 | t.dwLowDateTime;
  if (units < epoch) return std::nullopt;
  return (units - epoch) * 100;
}

// Start time of a process; nothing if the system does not report it.
std::optional<std::uint64_t> start_unix_ns(HANDLE process) noexcept;

// NtQueryInformationProcess, if the system has it. `needed` (may be null): size of the result, even
// if it did not fit.
bool query_process(HANDLE process, ULONG what, void* buffer, ULONG size, ULONG* needed) noexcept;

// A handle that stays open, so that all values are of one process even if its pid is reused.
class OpenedProcess {
 public:
  // no_process: it does not exist, or has exited while others still hold a handle. permission: the
  // system refuses access.
  static Result<OpenedProcess> open(std::uint32_t pid);

  [[nodiscard]] HANDLE get() const noexcept { return handle_.get(); }
  // Returns a path such as "C:\Tools\name.exe"; empty if there is none.
  [[nodiscard]] std::string image_path() const;

 private:
  explicit OpenedProcess(platform::Handle h) noexcept : handle_(std::move(h)) {}

  platform::Handle handle_;
};

// The process's original command line, cut if it is long; empty if unknown.
std::string command_text(HANDLE process);

// Counters of one process, in bytes.
struct ProcessCounters {
  std::uint64_t working_set = 0;
  std::uint64_t peak_working_set = 0;
  std::optional<std::uint64_t> private_usage;
  std::optional<std::uint64_t> peak_private_usage;
  std::optional<std::uint64_t> private_working_set;  // since Windows 10 22H2
};

// Returns false with GetLastError set.
bool read_counters(HANDLE process, ProcessCounters& out) noexcept;

std::optional<std::uint64_t> read_virtual_size(HANDLE process) noexcept;

Result<void> read_process_memory(HANDLE process, FieldSet fields, ProcessMemory& out);

}  // namespace hmn::os
