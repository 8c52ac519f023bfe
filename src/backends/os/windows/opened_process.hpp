// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/failure.hpp"
#include "platform/windows/handle.hpp"

namespace hmn::os {

// Nanoseconds since 1970; none for a time before.
constexpr std::optional<std::uint64_t> unix_ns(const FILETIME& t) noexcept {
  constexpr std::uint64_t epoch = 116'444'736'000'000'000;  // 1970, in 100 ns since 1601
  const std::uint64_t units = std::uint64_t{t.dwHighDateTime} << 32 | t.dwLowDateTime;
  if (units < epoch) return std::nullopt;
  return (units - epoch) * 100;
}

// NtQueryInformationProcess, where the system has it. `needed` (may be null): bytes of the answer,
// also when they did not fit.
bool query_process(HANDLE process, ULONG what, void* room, ULONG size, ULONG* needed) noexcept;

// Held, so that all that is read of it is of one process, whoever gets its number next.
class opened_process {
 public:
  // no_process: no such one, or it has exited while others still hold it. permission: the system
  // refuses.
  static result<opened_process> open(std::uint32_t pid);

  [[nodiscard]] HANDLE get() const noexcept { return handle_.get(); }
  // "C:\...\name.exe"; empty where it has none.
  [[nodiscard]] std::string image_path() const;
  [[nodiscard]] std::optional<std::uint64_t> start_unix_ns() const noexcept;

 private:
  explicit opened_process(platform::handle h) noexcept : handle_(std::move(h)) {}

  platform::handle handle_;
};

// The command line as the process was given it, its beginning where it is long; empty where it is
// not told.
std::string command_text(HANDLE process);

}  // namespace hmn::os
